// gnntune eval: how good choices are, from recorded measurements alone.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/common/error.hpp"
#include "tools/exit_code.hpp"
#include "tools/models.hpp"
#include "tools/output.hpp"
#include "tools/program.hpp"
#include "tuner/evaluate.hpp"

namespace gnntune::tools {
namespace {

Options eval_options() {
    Options options(
        "eval", {"gnntune eval [options] DECIDE.db [SCORE.db]",
                 "Fits models without the graphs that they are asked about, lets them and simpler rules choose, and "
                 "scores the choices: the time of the fastest config over that of the chosen one. Decides by the "
                 "measurements of the first database and scores by those of the second, another run. Needs no GPU.",
                 {"gnntune eval a.db b.db", "gnntune eval a.db b.db --op all --folds 10",
                  "gnntune eval a.db b.db --held-out cora,pubmed --cases --csv",
                  "gnntune eval h100_a.db h100_b.db --learn h200.db"}});
    add_training_options(options, "spmm");
    // clang-format off
    options.group("Split").add_options()
        ("folds", value("N", "0"), "parts that the graphs are split into; 0: leave out one graph at a time")
        ("held-out", value("LIST"), "score these graphs, learn from the others")
        ("learn", value("FILE"), "learn from this database instead, of another device for instance; a graph that is "
         "scored is left out of it all the same")
        ("cases", boost::program_options::bool_switch(), "a row for every problem and strategy");
    // clang-format on
    return options;
}

Table score_table() {
    return Table({{"op", "op", "", 0},
                  {"strategy", "strategy", "", 0},
                  {"cases", "cases", "", 0},
                  {"geomean_percent", "geomean", "%", 2},
                  {"worst_percent", "worst", "%", 1},
                  {"share_95_percent", "at 95 or better", "%", 1},
                  {"top_1_percent", "fastest", "%", 1},
                  {"regret_percent", "regret", "%", 2},
                  {"measured", "measured", "configs", 1},
                  {"time_share_percent", "of all times", "%", 1}});
}

Table case_table() {
    return Table({{"op", "op", "", 0},
                  {"graph", "graph", "", 0},
                  {"problem", "problem", "", 0},
                  {"strategy", "strategy", "", 0},
                  {"efficiency_percent", "efficiency", "%", 1},
                  {"chosen", "chosen", "", 0},
                  {"best", "fastest", "", 0},
                  {"best_us", "fastest", "us", 2}});
}

store::Store open(const std::string& path) {
    return store::Store::open(path, store::Mode::read_only);
}

}  // namespace

int run_eval(const Args& args) {
    const auto parsed = eval_options().parse(args);
    if (!parsed) return kExitOk;
    if (parsed->arguments.empty() || parsed->arguments.size() > 2) {
        throw invalid_argument(fmt::format("eval: expected one or two databases, got {}; gnntune eval A.db B.db",
                                           parsed->arguments.size()));
    }
    Output out("eval", parsed->common);
    const store::Store decide = open(parsed->arguments.front());
    const store::Store score = open(parsed->arguments.back());
    if (std::filesystem::equivalent(parsed->arguments.front(), parsed->arguments.back())) {
        out.warn("decided and scored by the same measurements: noise counts as skill; give a second run's database");
    }
    tuner::EvaluateOptions options;
    options.fit = fit_options(*parsed);
    options.folds = static_cast<int>(*parsed->integer("folds", 0, 100000));
    options.held_out = parsed->list("held-out");
    Table scores = score_table();
    Table cases = case_table();
    for (const Op op : parsed->ops("op")) {
        const Measured deciding = measured(decide, *parsed, op, out);
        if (deciding.problems.empty()) continue;
        auto learning = deciding.problems;
        if (const auto other = parsed->find("learn")) {
            learning = measured_there(open(*other), deciding.filter);
            if (learning.empty()) throw input_error(*other + " has no measurements of " + std::string(to_text(op)));
        }
        const auto scoring = measured_there(score, deciding.filter);
        out.note(fmt::format("{}: {} problems on {} graphs, clock {}, policy {}", to_text(op), deciding.problems.size(),
                             graph_names(deciding.problems).size(), to_text(deciding.filter.clock),
                             to_text(deciding.filter.policy)));
        const auto names = graph_names(deciding.problems);
        for (const std::string& name : options.held_out) {
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                throw invalid_argument(fmt::format("--held-out: {} has no measurements of {} on a graph '{}'",
                                                   parsed->arguments.front(), to_text(op), name));
            }
        }
        const tuner::Evaluation e = tuner::evaluate(learning, deciding.problems, scoring, registry(), options);
        if (e.cases.empty()) {
            throw input_error(
                e.common == 0
                    ? fmt::format("{} and {} have no problem of {} in common that was measured on the same device",
                                  parsed->arguments.front(), parsed->arguments.back(), to_text(op))
                    : fmt::format("nothing of {} is left to learn from once the scored graphs are left out; give more "
                                  "graphs, or another database with --learn",
                                  to_text(op)));
        }
        for (const tuner::StrategyScore& s : tuner::scores_of(e)) {
            scores.add({std::string(to_text(op)), s.name, std::int64_t{s.cases}, 100 * s.geomean, 100 * s.worst,
                        100 * s.share_95, 100 * s.top_1, 100 * (1 / s.geomean - 1),
                        s.measured > 0 ? Cell(s.measured) : Cell(),
                        s.time_share > 0 ? Cell(100 * s.time_share) : Cell()});
        }
        for (const tuner::EvaluatedCase& c : e.cases) {
            for (std::size_t s = 0; s < e.strategies.size(); ++s) {
                if (c.efficiency[s] <= 0) continue;
                cases.add({std::string(to_text(op)), c.graph, to_text(c.problem), e.strategies[s],
                           100 * c.efficiency[s], c.chosen[s], c.best, c.best_us});
            }
        }
    }
    if (scores.rows() == 0) {
        throw input_error(parsed->arguments.front() +
                          " has no measurements of these ops on this backend that this build's "
                          "variants took; gnntune db ls shows what it has");
    }
    out.print(parsed->flag("cases") ? cases : scores);
    return kExitOk;
}

}  // namespace gnntune::tools
