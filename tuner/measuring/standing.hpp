// Whether a stored measurement still says something about the code of this build.
#pragma once

#include "core/registry/measurement.hpp"
#include "core/registry/registry.hpp"

namespace gnntune::tuner {

/// The variant is here in the version that was measured, can do the problem, its params are legal for it, and so are
/// the versions of a composition's parts.
bool stands(const Registry& registry, const Query& query, const Measurement& measurement);

/// Whether the config may be captured in a CUDA graph, its parts among it. For one that stands.
bool may_be_captured(const Registry& registry, const Measurement& measurement);

}  // namespace gnntune::tuner
