// gnntune eval: how good choices are, from recorded measurements alone.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/models.hpp"
#include "tools/common/output.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/suggest.hpp"
#include "tools/verbs/eval_retunings.hpp"
#include "tools/verbs/families.hpp"
#include "tuner/ablation.hpp"

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
                  "gnntune eval a.db b.db --families data/corpus.csv", "gnntune eval a.db b.db --ablation --folds 10",
                  "gnntune eval --retunings 1.db 2.db 3.db", "gnntune eval h100_a.db h100_b.db --learn h200.db"}});
    add_training_options(options, "spmm");
    // clang-format off
    options.group("Split").add_options()
        ("precision", value("LIST", "fp32"), "classes of configs, each judged by itself: fp32, tf32 or both")
        ("folds", value("N", "0"), "parts that the graphs are split into; 0: leave out one graph at a time")
        ("held-out", value("LIST"), "score these graphs, learn from the others")
        ("families", value("FILE"), "a CSV with the name and family of graphs: score a family at a time, learn from the "
         "others")
        ("learn", value("FILE"), "learn from this database instead, of another device for instance; a graph that is "
         "scored is left out of it all the same")
        ("few", value("N"), "correct what --learn taught by N graphs of the deciding database, drawn from those that are not "
         "scored: what measuring so many on a new device gains")
        ("by", value("LIST"), "rows for each kind of problem too: dtype, reduce, weights, direction, self_loop, heads, k, or "
         "kind, which is all of these but k at once")
        ("least-gain", value("LIST"), "percent: score model_or_default with these margins too")
        ("cases", boost::program_options::bool_switch(), "a row for every problem and strategy")
        ("no-model", boost::program_options::bool_switch(), "fit nothing: the rules that need no model, in seconds")
        ("no-search", boost::program_options::bool_switch(), "leave out the strategies that search, which take most of "
         "the time")
        ("retunings", boost::program_options::bool_switch(), "the databases are runs over the same problems, one after "
         "another: how often the choice changes")
        ("ablation", boost::program_options::bool_switch(), "fit again without each group of features, and compare");
    // clang-format on
    return options;
}

Table score_table(bool by_kind) {
    std::vector<Column> columns{{"op", "op", "", 0}, {"precision", "precision", "", 0}};
    if (by_kind) columns.insert(columns.end(), {{"by", "by", "", 0}, {"kind", "kind", "", 0}});
    columns.insert(columns.end(), {{"strategy", "strategy", "", 0},
                                   {"cases", "cases", "", 0},
                                   {"geomean_percent", "geomean", "%", 2},
                                   {"worst_percent", "worst", "%", 1},
                                   {"share_95_percent", "at 95 or better", "%", 1},
                                   {"top_1_percent", "fastest", "%", 1},
                                   {"regret_percent", "regret", "%", 2},
                                   {"lost_percent", "behind the default", "%", 2},
                                   {"measured", "measured", "configs", 1},
                                   {"time_share_percent", "of all times", "%", 1},
                                   {"behind_library", "slower than the library", "cases", 0},
                                   {"library_worst_percent", "worst beside it", "%", 1}});
    return Table(std::move(columns));
}

/// A way to sort problems into kinds: its word, and the kind of a problem in words.
struct Grouping {
    std::string name;
    std::function<std::string(const Problem&)> of;
};

constexpr const char* kEveryProblem = "all";

/// All together, and those of --by.
std::vector<Grouping> groupings(const Parsed& parsed) {
    const std::vector<Grouping> single{
        {"dtype", [](const Problem& p) { return std::string(to_text(p.dtype)); }},
        {"reduce", [](const Problem& p) { return std::string(to_text(p.reduce)); }},
        {"weights", [](const Problem& p) { return std::string(p.weighted ? "weighted" : "unweighted"); }},
        {"direction", [](const Problem& p) { return std::string(to_text(p.direction)); }},
        {"self_loop", [](const Problem& p) { return std::string(p.self_loop ? "self_loop" : "no_self_loop"); }},
        {"heads", [](const Problem& p) { return fmt::format("heads={}", p.heads); }},
    };
    std::vector<Grouping> known = single;
    known.push_back({"k", [](const Problem& p) { return fmt::format("k={}", p.k); }});
    known.push_back({"kind", [single](const Problem& p) {
                         std::vector<std::string> words;
                         for (const Grouping& g : single) words.push_back(g.of(p));
                         return fmt::format("{}", fmt::join(words, " "));
                     }});
    std::vector<Grouping> out{{kEveryProblem, [](const Problem&) { return std::string(kEveryProblem); }}};
    for (const std::string& word : parsed.list("by")) {
        const auto found = std::find_if(known.begin(), known.end(), [&](const Grouping& g) { return g.name == word; });
        if (found == known.end()) {
            std::vector<std::string> words;
            for (const Grouping& g : known) words.push_back(g.name);
            throw invalid_argument(fmt::format("--by: expected words of {}, not '{}'{}", fmt::join(words, ", "), word,
                                               did_you_mean(word, words)));
        }
        out.push_back(*found);
    }
    return out;
}

void add_scores(Table& table, Op op, Precision precision, const tuner::Evaluation& e, const Grouping& grouping,
                bool by_kind) {
    std::set<std::string> kinds;
    for (const tuner::EvaluatedCase& c : e.cases) kinds.insert(grouping.of(c.problem));
    for (const std::string& kind : kinds) {
        const auto is_of = [&](const tuner::EvaluatedCase& c) { return grouping.of(c.problem) == kind; };
        for (const tuner::StrategyScore& s : tuner::scores_of(e, is_of)) {
            std::vector<Cell> row{std::string(to_text(op)), std::string(to_text(precision))};
            if (by_kind) row.insert(row.end(), {grouping.name, kind});
            row.insert(row.end(),
                       {s.name, std::int64_t{s.cases}, 100 * s.geomean, 100 * s.worst, 100 * s.share_95, 100 * s.top_1,
                        100 * (1 / s.geomean - 1), 100 * s.lost, s.measured > 0 ? Cell(s.measured) : Cell(),
                        s.time_share > 0 ? Cell(100 * s.time_share) : Cell(),
                        s.with_library > 0 ? Cell(std::int64_t{s.behind_library}) : Cell(),
                        s.with_library > 0 ? Cell(100 * s.worst_of_library) : Cell()});
            table.add(std::move(row));
        }
    }
}

Table case_table() {
    return Table({{"op", "op", "", 0},
                  {"precision", "precision", "", 0},
                  {"graph", "graph", "", 0},
                  {"problem", "problem", "", 0},
                  {"strategy", "strategy", "", 0},
                  {"efficiency_percent", "efficiency", "%", 1},
                  {"chosen", "chosen", "", 0},
                  {"best", "fastest", "", 0},
                  {"best_us", "fastest", "us", 2}});
}

Table ablation_table() {
    return Table({{"op", "op", "", 0},
                  {"precision", "precision", "", 0},
                  {"without", "without", "", 0},
                  {"geomean_percent", "model geomean", "%", 2},
                  {"worst_percent", "worst", "%", 1},
                  {"share_95_percent", "at 95 or better", "%", 1},
                  {"difference_percent", "difference", "%", 2},
                  {"model_3_percent", "model_3 geomean", "%", 2},
                  {"features", "features", "", 0, false}});
}

void add_ablation(Table& table, Op op, Precision precision, const std::vector<tuner::Ablation>& ablation) {
    std::optional<double> whole;
    for (const tuner::Ablation& a : ablation) {
        std::map<std::string, tuner::StrategyScore> scores;
        for (const tuner::StrategyScore& s : tuner::scores_of(a.evaluation)) scores[s.name] = s;
        const tuner::StrategyScore& model = scores["model"];
        if (!whole) whole = model.geomean;
        table.add({std::string(to_text(op)), std::string(to_text(precision)), a.left_out.name, 100 * model.geomean,
                   100 * model.worst, 100 * model.share_95, 100 * (model.geomean / *whole - 1),
                   100 * scores["model_3"].geomean, fmt::format("{}", fmt::join(a.left_out.features, " "))});
    }
}

/// Every op with every class that was asked for.
std::vector<std::pair<Op, Precision>> classes_of(const Parsed& parsed) {
    std::vector<std::pair<Op, Precision>> out;
    for (const Op op : parsed.ops("op")) {
        for (const std::string& text : parsed.list("precision")) {
            const bool fp32 = text == to_text(Precision::fp32);
            if (!fp32 && text != to_text(Precision::tf32)) {
                throw invalid_argument("--precision: expected fp32, tf32 or a list of them, not '" + text + "'");
            }
            const std::pair<Op, Precision> both(op, fp32 ? Precision::fp32 : Precision::tf32);
            if (std::find(out.begin(), out.end(), both) == out.end()) out.push_back(both);
        }
    }
    return out;
}

store::Store open(const std::string& path) {
    return store::Store::open(path, store::Mode::read_only);
}

}  // namespace

int run_eval(const Args& args) {
    const auto parsed = eval_options().parse(args);
    if (!parsed) return kExitOk;
    if (parsed->flag("retunings")) return eval_retunings(*parsed);
    if (parsed->arguments.empty() || parsed->arguments.size() > 2) {
        throw invalid_argument(fmt::format("eval: expected one or two databases, got {}; gnntune eval A.db B.db",
                                           parsed->arguments.size()));
    }
    Output out("eval", parsed->common);
    const store::Store decide = open(parsed->arguments.front());
    const store::Store score = open(parsed->arguments.back());
    std::error_code ignored;
    if (std::filesystem::equivalent(parsed->arguments.front(), parsed->arguments.back(), ignored)) {
        out.warn("decided and scored by the same measurements: noise counts as skill; give a second run's database");
    }
    tuner::EvaluateOptions options;
    options.fit = fit_options(*parsed);
    options.models = !parsed->flag("no-model");
    options.searches = options.models && !parsed->flag("no-search");
    options.folds = static_cast<int>(*parsed->integer("folds", 0, 100000));
    options.held_out = parsed->list("held-out");
    for (const std::int64_t percent : parsed->integers("least-gain", 0, 1000)) {
        options.least_gains.push_back(static_cast<double>(percent) / 100);
    }
    if (const auto few = parsed->integer("few", 0, 100000)) {
        options.few = static_cast<int>(*few);
        if (!parsed->given("learn") || !options.models) {
            throw invalid_argument(
                "--few corrects a model that --learn taught: give --learn FILE, and leave out --no-model");
        }
    }
    if (parsed->flag("ablation") && !options.models)
        throw invalid_argument("--ablation fits models: leave out --no-model");
    for (const char* name : {"complete", "least-gain"}) {
        if (!options.models && parsed->given(name)) {
            throw invalid_argument(fmt::format("--{} is about models: leave out --no-model", name));
        }
    }
    if (parsed->flag("ablation") && parsed->flag("cases")) {
        throw invalid_argument("--ablation and --cases exclude each other");
    }
    if (const auto file = parsed->find("families")) options.families = read_families(*file);
    if (!options.families.empty() && (options.folds > 0 || !options.held_out.empty())) {
        throw invalid_argument("--families splits by family; leave out --folds and --held-out");
    }
    Table ablations = ablation_table();
    const bool by_kind = parsed->given("by");
    const std::vector<Grouping> kinds = groupings(*parsed);
    if (by_kind && (parsed->flag("ablation") || parsed->flag("cases"))) {
        throw invalid_argument("--by sorts scores; leave out --ablation and --cases");
    }
    Table scores = score_table(by_kind);
    Table cases = case_table();
    const auto classes = classes_of(*parsed);
    for (const auto& [op, precision] : classes) {
        const Measured deciding = measured(decide, *parsed, op, out, precision);
        if (deciding.problems.empty()) {
            if (precision != Precision::fp32) {
                out.warn(fmt::format("{}: no config of class {} was measured", to_text(op), to_text(precision)));
            }
            continue;
        }
        auto learning = deciding.problems;
        const auto other = parsed->find("learn");
        if (other || parsed->flag("complete")) {
            tuner::TrainingFilter filter = deciding.filter;
            filter.complete = parsed->flag("complete");
            tuner::LeftOut left_out;
            learning =
                other ? measured_there(open(*other), filter, &left_out) : measured_there(decide, filter, &left_out);
            note_incomplete(op, left_out, learning.size(), out);
            if (learning.empty() && left_out.incomplete > 0) {
                const std::string why = nothing_complete(other.value_or(parsed->arguments.front()), op);
                if (classes.size() == 1) throw input_error(why);
                out.warn(why);
                continue;
            }
            if (learning.empty()) throw input_error(*other + " has no measurements of " + std::string(to_text(op)));
        }
        const auto scoring = measured_there(score, deciding.filter);
        if (scoring.empty() && classes.size() == 1) {
            throw input_error(nothing_measured(score, parsed->arguments.back(), *parsed));
        }
        out.note(fmt::format("{}, {}: {} problems on {} graphs, clock {}, policy {}", to_text(op), to_text(precision),
                             deciding.problems.size(), graph_names(deciding.problems).size(),
                             to_text(deciding.filter.clock), to_text(deciding.filter.policy)));
        const auto names = graph_names(deciding.problems);
        for (const std::string& name : options.held_out) {
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                throw invalid_argument(fmt::format("--held-out: {} has no measurements of {} on a graph '{}'",
                                                   parsed->arguments.front(), to_text(op), name));
            }
        }
        if (!options.families.empty()) {
            const auto known = std::count_if(names.begin(), names.end(),
                                             [&](const std::string& name) { return options.families.contains(name); });
            if (known == 0) {
                throw invalid_argument(fmt::format("--families: {} names none of the {} graphs in {}",
                                                   *parsed->find("families"), names.size(), parsed->arguments.front()));
            }
            if (static_cast<std::size_t>(known) < names.size()) {
                out.note(fmt::format("{} of {} graphs are in no family there, and are scored each by itself",
                                     names.size() - static_cast<std::size_t>(known), names.size()));
            }
        }
        check_features(options.fit.without, learning);
        Progress progress(out, "eval " + std::string(to_text(op)), 0);
        options.progress = [&](std::size_t done, std::size_t total) {
            progress.set_total(static_cast<std::int64_t>(total));
            progress.update(static_cast<std::int64_t>(done), "");
        };
        std::vector<tuner::Ablation> parts;
        if (parsed->flag("ablation")) {
            parts = tuner::ablation(learning, deciding.problems, scoring, registry(), options);
        } else {
            parts.emplace_back().evaluation =
                tuner::evaluate(learning, deciding.problems, scoring, registry(), options);
        }
        const tuner::Evaluation& e = parts.front().evaluation;
        if (e.cases.empty()) {
            const std::string why =
                e.common == 0
                    ? fmt::format("{} and {} have no problem of {} in common that was measured on the same device",
                                  parsed->arguments.front(), parsed->arguments.back(), to_text(op))
                    : fmt::format(
                          "nothing of {} is left to learn from once the scored graphs are left out; give more "
                          "graphs, or another database with --learn",
                          to_text(op));
            if (classes.size() == 1) throw input_error(why);
            out.warn(why);
            continue;
        }
        if (parsed->flag("ablation")) {
            add_ablation(ablations, op, precision, parts);
            continue;
        }
        for (const Grouping& grouping : kinds) add_scores(scores, op, precision, e, grouping, by_kind);
        for (const tuner::EvaluatedCase& c : e.cases) {
            for (std::size_t s = 0; s < e.strategies.size(); ++s) {
                if (c.efficiency[s] <= 0) continue;
                cases.add({std::string(to_text(op)), std::string(to_text(precision)), c.graph, to_text(c.problem),
                           e.strategies[s], 100 * c.efficiency[s], c.chosen[s], c.best, c.best_us});
            }
        }
    }
    if (scores.rows() == 0 && ablations.rows() == 0) {
        throw input_error(nothing_measured(decide, parsed->arguments.front(), *parsed));
    }
    out.print(parsed->flag("ablation") ? ablations : parsed->flag("cases") ? cases : scores);
    return kExitOk;
}

}  // namespace gnntune::tools
