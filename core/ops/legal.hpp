// Every problem that may be asked for, found by asking: no list of what an op takes is kept here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/registry/op.hpp"

namespace gnntune {

/// Whether the heads of a valid problem are more than a way to write a width: some array of its op has another shape than with
/// one head of k * heads features (core/ops/arrays.hpp).
bool has_own_heads(const Problem& problem);

/// What validate() lets through and normalised() leaves as it is, each once: these ops with these widths and numbers of
/// heads, in every storage type, reduction and direction, with and without weights and self loops. Heads above 1 only
/// where has_own_heads(). Of an op, heads and width the plain problem comes first: the first of each enum, weighted if
/// it can be, forward, without self loops.
std::vector<Problem> legal_problems(std::span<const Op> ops, std::span<const std::int32_t> widths,
                                    std::span<const std::int32_t> heads);

}  // namespace gnntune
