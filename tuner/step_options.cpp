#include "tuner/step_options.hpp"

#include <map>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {

namespace {

/// Counts those of the newest rows that would be options but for an erratum.
void count_errata(CallOptions& options, const Registry& registry, const Query& query,
                  const std::map<std::string, const Measurement*>& newest) {
    for (const auto& [config, m] : newest) {
        const Variant* v = registry.find(m->config.variant);
        if (!v || m->status != MeasurementStatus::ok) continue;
        const std::string words = erratum_words(registry, query, *v, m->config.params, m->parts);
        if (words.empty()) continue;
        if (options.errata++ == 0) options.erratum = words;
    }
}

}  // namespace

StepOptions step_options(const Registry& registry, const store::Store& store, const Step& step, std::int64_t graph,
                         std::int64_t environment, Policy policy, Clock clock, const QueryOf& query_of) {
    std::vector<StepCall> calls = calls_of(step);
    const Backend backend = query_of(calls.front().problem).device->backend;
    StepOptions out{std::move(calls), {registry, backend, kFormatCsr, store.format_builds(graph, environment)}, {}};
    for (const StepCall& call : out.calls) {
        CallOptions options{to_text(call.problem), call.runs_per_step, call.runs_per_graph, {}};
        if (const auto problem = store.find_problem_id(call.problem)) {
            const Query query = query_of(call.problem);
            const auto rows = store.measurements({graph, environment, *problem}, {policy, clock, {}});
            std::map<std::string, const Measurement*> newest;
            for (const Measurement& m : rows) newest[m.config.text()] = &m;
            for (Candidate& c : candidates_of(registry, query, rows)) {
                const FormatMask formats = out.formats.add(query, c.config, newest.at(c.config.text())->parts);
                c.build_us = out.formats.own_us(query, c.config, c.build_us);
                options.options.push_back({std::move(c), formats});
            }
            count_errata(options, registry, query, newest);
        }
        out.options.push_back(std::move(options));
    }
    return out;
}

store::StepChoice stored_step(const Registry& registry, const Step& step, const StepOptions& from,
                              const StepDecision& decision, const StepLimits& limits) {
    const StepCost& cost = decision.cost;
    store::StepChoice out;
    out.step = to_text(step);
    out.expected_steps = limits.constraints.expected_calls;
    if (limits.format_bytes != SIZE_MAX) out.format_limit_bytes = static_cast<std::int64_t>(limits.format_bytes);
    out.formats = from.formats.text(cost.formats);
    out.format_bytes = cost.format_bytes;
    out.workspace_bytes = cost.workspace_bytes;
    out.build_us = cost.format_us + cost.own_us;
    out.step_us = cost.step_us;
    out.reason = decision.reason;
    for (std::size_t i = 0; i < from.calls.size(); ++i) {
        const CallOption& option = from.options[i].options[(*decision.picks)[i]];
        out.calls.push_back({from.calls[i].problem, from.calls[i].runs_per_step, from.calls[i].runs_per_graph,
                             option.candidate.config, registry.find(option.candidate.config.variant)->version,
                             from.formats.text(option.formats), option.candidate.median_us});
    }
    return out;
}

std::optional<Picks> default_picks(const Registry& registry, const StepOptions& from, const QueryOf& query_of) {
    Picks picks;
    for (std::size_t i = 0; i < from.calls.size(); ++i) {
        const auto& options = from.options[i].options;
        std::size_t found = options.size();
        try {
            const Config standard = registry.default_config(query_of(from.calls[i].problem), {});
            for (std::size_t j = 0; j < options.size(); ++j) {
                if (options[j].candidate.config == standard) found = j;
            }
        } catch (const Error&) {
            return std::nullopt;  // no exact variant can do it
        }
        if (found == options.size()) return std::nullopt;
        picks.push_back(found);
    }
    return picks;
}

std::optional<Picks> library_picks(const Registry& registry, const StepOptions& from, const Picks& otherwise) {
    Picks picks = otherwise;
    bool any = false;
    for (std::size_t i = 0; i < from.calls.size(); ++i) {
        const Candidate* best = nullptr;
        for (std::size_t j = 0; j < from.options[i].options.size(); ++j) {
            const Candidate& c = from.options[i].options[j].candidate;
            if (!registry.find(c.config.variant)->baseline || c.precision != Precision::fp32) continue;
            if (best && best->median_us <= c.median_us) continue;
            best = &c;
            picks[i] = j;
            any = true;
        }
    }
    return any ? std::optional(picks) : std::nullopt;
}

}  // namespace gnntune::tuner
