// data/standins.json and data/telling.json, compiled in by CMake.
#pragma once

#include <string_view>

namespace gnntune::generate {

std::string_view standins_json();
std::string_view telling_json();

}  // namespace gnntune::generate
