#include "tools/verbs/explain_step.hpp"

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/known_graph.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/step_report.hpp"
#include "tools/common/steps.hpp"
#include "tuner/training.hpp"

namespace gnntune::tools {
namespace {

std::string options_of(const Step& step) {
    std::string dims;
    std::string heads;
    for (const LayerWidth& width : step.layers) {
        dims += fmt::format("{}{}", dims.empty() ? "" : ",", width.k);
        heads += fmt::format("{}{}", heads.empty() ? "" : ",", width.heads);
    }
    const bool one = step.layers.size() == 1;
    return fmt::format("--step {}{} --dim {}{}{}", to_text(step.model),
                       step.features > 0 ? fmt::format(" --features {}", step.features) : "", dims,
                       one ? " --layers 1" : "", step.model == StepModel::gcn ? "" : " --heads " + heads);
}

// What `tune` stored, against what these demands give now.
std::string stored_line(const store::Store& store, std::int64_t graph, std::int64_t environment, Policy policy,
                        Clock clock, const store::StepChoice& now) {
    for (const store::StepChoiceRow& row : store.step_choices()) {
        if (row.graph != graph || row.environment != environment || row.choice.step != now.step ||
            row.policy != policy || row.clock != clock) {
            continue;
        }
        std::string others;
        for (std::size_t i = 0; i < row.choice.calls.size() && i < now.calls.size(); ++i) {
            const store::StepCallChoice& call = row.choice.calls[i];
            if (call.config == now.calls[i].config) continue;
            others += fmt::format("; {} for {}", call.config.text(), short_problem(call.problem));
        }
        return fmt::format("stored     at {} for {:.0f} steps, {}: {}", row.decided_at, row.choice.expected_steps,
                           row.choice.format_limit_bytes
                               ? fmt::format("a limit of {} bytes", *row.choice.format_limit_bytes)
                               : "no limit",
                           others.empty() ? "the same choice" : "another choice" + others);
    }
    return "stored     nothing: tune --step was not run for it";
}

}  // namespace

int explain_step(const store::Store& store, const store::GraphRow& graph, const Step& step, const Parsed& parsed,
                 const Device& here, Output& out) {
    const auto environment = find_environment(store, here.environment, graph.id, problems_of(step), parsed);
    const auto not_tuned = [&](const std::string& what) {
        return input_error(fmt::format("nothing was measured for {} on {}, {}; {}", what, graph.record.name,
                                       timing_text(parsed), tune_advice(parsed, here, options_of(step))));
    };
    if (!environment) throw not_tuned("step " + to_text(step));
    Device device = tuner::device_of(environment->environment);
    device.errata = here.errata;
    out.set_device(device);
    const auto query_of = [&](const Problem& problem) { return known_query(graph.record, device, problem); };
    const Policy policy = one_policy(parsed);
    // As for one problem: the clock that has most rows, span before events before host among equals.
    std::optional<tuner::StepOptions> found;
    Clock found_clock = Clock::span;
    std::size_t most = 0;
    for (const Clock clock : clocks_asked(parsed)) {
        auto options = tuner::step_options(registry(), store, step, graph.id, environment->id, policy, clock, query_of);
        std::size_t rows = 0;
        for (const CallOptions& call : options.options) rows += call.options.size();
        // What errata leave out was measured.
        for (const CallOptions& call : options.options) rows += call.errata;
        if (rows <= most) continue;
        most = rows;
        found = std::move(options);
        found_clock = clock;
    }
    if (!found) throw input_error("nothing was measured with that clock and policy; see gnntune db show");
    for (const CallOptions& call : found->options) {
        if (call.options.empty() && call.errata > 0) {
            throw unsupported(fmt::format("no measured config of {} on {} may run: {} (gnntune db errata)", call.name,
                                          graph.record.name, call.erratum));
        }
        if (call.options.empty()) throw not_tuned(call.name);
        if (call.errata > 0) {
            out.note(fmt::format("{}: {} measured config{} left out, which must not run: {} (gnntune db errata)",
                                 call.name, call.errata, call.errata == 1 ? "" : "s", call.erratum));
        }
    }
    const StepReport report(registry(), {graph.record.name, step, policy, found_clock}, std::move(*found),
                            step_limits(parsed), query_of);
    StepReports reports;
    reports.add(report, out);
    reports.print(out);
    if (report.decision().picks) {
        out.print_line(stored_line(store, graph.id, environment->id, policy, found_clock, report.stored(registry())));
    }
    if (!report.decision().picks) warn_unchosen(report, "nothing is chosen", out);
    return kExitOk;
}

}  // namespace gnntune::tools
