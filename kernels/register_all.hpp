// Registers every variant and format builder of the build. The definition is generated (cmake/variants.cmake).
#pragma once

#include "core/registry/registry.hpp"

namespace gnntune {

void register_all(Registry& registry);

}  // namespace gnntune
