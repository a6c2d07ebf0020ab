// What was fast in an environment much like this one: another driver, CUDA or library version beneath the same device.
// The dispatcher uses such rows until there are better ones, so that tuning takes them again before it looks further.
#pragma once

#include <vector>

#include "profiles/store/store.hpp"

namespace gnntune::tuner {

/// More than this over the fastest there, and a config is not likely to be the fastest here.
inline constexpr double kRecallMargin = 0.25;
inline constexpr std::size_t kMostRecalled = 16;

/// Configs that may be chosen for `query`'s problem and that were measured for this graph in a near environment: what
/// was chosen there, then the others within kRecallMargin of the fastest, fastest first. Of the store and of the
/// shipped databases the first that has any answers, there the environment with the newest row. From a shipped database
/// the present environment counts as near. Empty if there are none.
std::vector<Config> recalled(const store::Store& store, const Registry& registry, const Query& query,
                             const Fingerprint& graph, Policy policy, Clock clock);

}  // namespace gnntune::tuner
