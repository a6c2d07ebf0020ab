// Whether a problem fits into the memory of this machine: asked before it is started, for the system ends a program
// that takes more than there is without a word.
#pragma once

#include <cstdint>
#include <optional>

#include "core/registry/variant.hpp"

namespace gnntune::tuner {

/// What a ProblemWorkload takes of host memory, at least: inputs, on the CPU the arrays that configs work on, oracles.
std::uint64_t host_bytes(const Query& query);
/// Of /proc/meminfo; nothing where it cannot be read.
std::optional<std::uint64_t> available_host_bytes();
/// Throws ErrorKind::out_of_memory in words if the problem does not fit.
void require_host_memory(const Query& query);

}  // namespace gnntune::tuner
