// What else the machine is doing, where that spoils times.
#pragma once

#include <optional>
#include <string>

#include "core/registry/device.hpp"

namespace gnntune::tools {

/// A warning that CPU times will be off because the machine is busy; nothing for a GPU or an idle machine.
std::optional<std::string> load_warning(const Device& device);

}  // namespace gnntune::tools
