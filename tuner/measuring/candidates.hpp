// From measurements to what may be chosen, and from a decision to what is stored of it.
#pragma once

#include <optional>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/registry.hpp"

namespace gnntune::tuner {

/// Measured configs of a key that may be chosen now: newest ok row of each config whose variant and version this
/// registry has and whose params are legal for the query. `build_us` is counted from the caller's arrays. `before` is
/// what is stored as chosen for the key.
std::vector<Candidate> candidates_of(const Registry& registry, const Query& query, const std::vector<Measurement>& rows,
                                     const std::optional<Choice>& before = {});

/// What is stored of a decision that has a winner among `candidates`.
Choice choice_of(const Registry& registry, const std::vector<Candidate>& candidates, const Decision& decision);

}  // namespace gnntune::tuner
