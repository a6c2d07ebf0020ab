#include "tools/verbs/eval_retunings.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/common/error.hpp"
#include "core/registry/device.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/models.hpp"
#include "tools/common/output.hpp"
#include "tools/common/program.hpp"
#include "tuner/retunings.hpp"

namespace gnntune::tools {
namespace {

Table retuning_table() {
    return Table({{"op", "op", "", 0},
                  {"rule", "decided", "", 0},
                  {"problems", "problems", "", 0},
                  {"retunings", "re-tunings", "", 0},
                  {"changes", "changes", "", 0},
                  {"changed_percent", "of re-tunings", "%", 2},
                  {"changed_problems_percent", "problems changed", "%", 1},
                  {"mean_regret_percent", "regret of a change", "%", 2},
                  {"worst_regret_percent", "worst regret", "%", 2},
                  {"mean_loss_percent", "behind the fastest", "%", 2},
                  {"worst_loss_percent", "worst behind", "%", 2}});
}

double percent(int part, int whole) {
    return whole > 0 ? 100.0 * part / whole : 0;
}

}  // namespace

int eval_retunings(const Parsed& parsed) {
    if (parsed.arguments.size() < 2) {
        throw invalid_argument(
            "eval --retunings: expected the databases of two or more runs in the order in which "
            "they were taken; gnntune eval --retunings 1.db 2.db 3.db");
    }
    for (const char* name : {"cases", "ablation", "no-search", "no-model", "complete"}) {
        if (parsed.flag(name)) throw invalid_argument(std::string("--retunings fits no model: leave out --") + name);
    }
    for (const char* name : {"held-out", "families", "learn", "without", "by", "least-gain"}) {
        if (parsed.find(name)) throw invalid_argument(std::string("--retunings fits no model: leave out --") + name);
    }
    if (parsed.text("precision") != to_text(Precision::fp32)) {
        throw invalid_argument(
            "--retunings follows the default constraints, which allow no error: leave out --precision");
    }
    for (std::size_t i = 0; i < parsed.arguments.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            std::error_code none;
            if (std::filesystem::equivalent(parsed.arguments[i], parsed.arguments[j], none)) {
                throw invalid_argument("--retunings: " + parsed.arguments[i] + " is given twice; expected a run each");
            }
        }
    }
    Output out("eval", parsed.common);
    std::vector<store::Store> runs;
    std::vector<const store::Store*> pointers;
    for (const std::string& path : parsed.arguments) runs.push_back(store::Store::open(path, store::Mode::read_only));
    for (const store::Store& run : runs) pointers.push_back(&run);
    Table table = retuning_table();
    for (const Op op : parsed.ops("op")) {
        const Measured first = measured(runs.front(), parsed, op, out);
        if (first.problems.empty()) continue;
        const auto all = tuner::retunings(pointers, registry(), first.filter);
        for (const tuner::Retunings& r : all) {
            if (r.incomplete > 0 && &r == &all.front()) {
                out.warn(fmt::format("{}: {} problems are left out: not every run measured the same configs of them",
                                     to_text(op), r.incomplete));
            }
            if (r.problems == 0) continue;
            table.add({std::string(to_text(op)), r.rule, std::int64_t{r.problems}, std::int64_t{r.retunings},
                       std::int64_t{r.changes}, percent(r.changes, r.retunings),
                       percent(r.changed_problems, r.problems), 100 * r.mean_regret, 100 * r.worst_regret,
                       100 * r.mean_loss, 100 * r.worst_loss});
        }
        out.note(fmt::format("{}: clock {}, policy {}, {} runs", to_text(op), to_text(first.filter.clock),
                             to_text(first.filter.policy), runs.size()));
    }
    if (table.rows() == 0 && !built_with_cuda() && backend_of(runs.front(), parsed) == Backend::cuda) {
        throw input_error(nothing_measured(runs.front(), parsed.arguments.front(), parsed));
    }
    if (table.rows() == 0) {
        throw input_error(
            fmt::format("no problem was measured to the end by all {} runs in the same environment; "
                        "tune the same graphs with --exhaustive into a database each",
                        runs.size()));
    }
    out.print(table);
    return kExitOk;
}

}  // namespace gnntune::tools
