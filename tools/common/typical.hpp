// A device to ask variants about when none is at hand.
#pragma once

#include <optional>

#include "core/registry/device.hpp"
#include "tools/common/options.hpp"

namespace gnntune::tools {

/// The first usable device of that backend; without one, the limits of a device of compute capability 9.0. Nothing is
/// run on it and nothing is measured.
Device typical_device(Backend backend);

/// Of --device or its variable, which need not be here; nothing without.
std::optional<Backend> backend_named(const Parsed& parsed);

}  // namespace gnntune::tools
