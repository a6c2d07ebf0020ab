#include "tools/verbs/tune_plan.hpp"

#include <fmt/format.h>

#include "tools/common/exit_code.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/machine_load.hpp"
#include "tools/common/parse.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/verbs/held_graph.hpp"
#include "tools/verbs/tune_tables.hpp"

namespace gnntune::tools {

int print_tune_plan(const std::vector<GraphArgument>& graphs, const Device& device, tuner::Tuner& tuner,
                    const tuner::TuneOptions& options, const std::optional<Step>& asked, Output& out) {
    Table table = plan_table();
    double total_s = 0;
    std::size_t unread = 0;
    for (const GraphArgument& argument : graphs) {
        if (interrupted()) return kExitInterrupted;
        auto input = load_among(argument, graphs.size(), out);
        if (!input) {
            ++unread;
            continue;
        }
        const auto held = held_graph(std::move(*input), device);
        for (const auto& step : tuner.plan(held->workload, held->record, options)) {
            table.add({argument.name, short_problem(step.problem), std::string(to_text(step.policy)),
                       std::string(to_text(step.clock)), static_cast<std::int64_t>(step.configs),
                       static_cast<std::int64_t>(step.open), step.estimate_s});
            total_s += step.estimate_s;
        }
    }
    out.print(table);
    if (asked) {
        out.note(fmt::format("step {}, chosen together:", to_text(*asked)));
        for (const StepCall& call : calls_of(*asked)) {
            out.note(fmt::format("  {}: {}{}", call.role, short_problem(call.problem),
                                 call.runs_per_step > 1 ? fmt::format(", {} runs a step", call.runs_per_step) : ""));
        }
    }
    // A search decides as it goes how many it measures.
    const char* more =
        options.exhaustive ? "" : "; a search may measure more than `to measure`, --exhaustive measures all";
    out.note(fmt::format("estimated time: {} where nothing else runs (a guess from sizes, not a measurement{})",
                         duration_text(total_s), more));
    if (const auto warning = load_warning(device, "it goes faster")) out.warn(*warning);
    return unread > 0 ? kExitInput : kExitOk;
}

}  // namespace gnntune::tools
