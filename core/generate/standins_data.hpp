// data/standins.json, compiled in by CMake.
#pragma once

#include <string_view>

namespace gnntune::generate {

std::string_view standins_json();

}  // namespace gnntune::generate
