// From stored measurements to what the rule for whole steps chooses from.
#pragma once

#include <functional>
#include <vector>

#include "core/dispatch/choose_step.hpp"
#include "core/dispatch/step.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::tuner {

/// A step on one graph, environment, policy and clock.
struct StepOptions {
    std::vector<StepCall> calls;
    SharedFormats formats;
    std::vector<CallOptions> options;  ///< one for each call
};

/// The query of a problem on the graph that is meant.
using QueryOf = std::function<Query(const Problem&)>;

/// What the store has for `step`; a call that nothing was measured for has no options.
StepOptions step_options(const Registry& registry, const store::Store& store, const Step& step, std::int64_t graph,
                         std::int64_t environment, Policy policy, Clock clock, const QueryOf& query_of);

/// What the store keeps of a decision that has picks.
store::StepChoice stored_step(const Registry& registry, const Step& step, const StepOptions& from,
                              const StepDecision& decision, const StepLimits& limits);

/// The option of each call that runs where nothing is known; nothing if one was not measured.
std::optional<Picks> default_picks(const Registry& registry, const StepOptions& from, const QueryOf& query_of);

/// The fastest fp32 config of a library for each call that one is known for, and `otherwise` for the rest. Nothing if
/// no call has one.
std::optional<Picks> library_picks(const Registry& registry, const StepOptions& from, const Picks& otherwise);

}  // namespace gnntune::tuner
