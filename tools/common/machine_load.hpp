// What else the machine is doing, where that spoils times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/registry/device.hpp"

namespace gnntune::tools {

/// A warning that CPU times will be off because the machine is busy; nothing for a GPU or an idle machine.
/// `way_out` is how the verb measures again: "measure again with --again".
std::optional<std::string> load_warning(const Device& device, std::string_view way_out);

}  // namespace gnntune::tools
