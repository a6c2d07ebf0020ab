// A typical problem to ask variants about their params when no graph is at hand (`gnntune list`, `gnntune db check`).
#pragma once

#include "core/registry/device.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::tools {

/// The first usable device of that backend; without one, the limits of a device of compute capability 9.0. Nothing is
/// run on it and nothing is measured.
Device typical_device(Backend backend);

/// `problem` on a graph of 100 000 vertices and a million edges. `device` must outlive the query.
Query typical_query(const Problem& problem, const Device& device);

}  // namespace gnntune::tools
