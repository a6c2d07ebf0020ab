// What differs between two environments, for people.
#pragma once

#include <string>
#include <vector>

#include "core/registry/measurement.hpp"

namespace gnntune::store {

/// "driver 580.65 -> 590.1" for every field but the backend that differs, `a` first; "unknown" for an empty text. Memory
/// and L2 in bytes. What is the number of multiprocessors of a GPU is that of threads of a CPU.
std::vector<std::string> differences(const Environment& a, const Environment& b);

}  // namespace gnntune::store
