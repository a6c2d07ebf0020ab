// A few problems of many, so that a corpus of graphs sees every kind in the time of a few problems for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/registry/op.hpp"

namespace gnntune::tuner {

/// Of each op's problems `most`, or all where they are no more: what turn number `turn` deals from a deck of them, which is
/// the same for a seed whatever their order. Turns one after the other go through the whole deck before a problem comes
/// again. In the deck each problem has least in common (storage type, reduction, weights, direction, self loops, heads,
/// width) with those just before it, so that a few show many values of each; the seed decides among equals. Ops take turns,
/// so that whoever stops early has something of each.
std::vector<Problem> draw_problems(std::span<const Problem> problems, std::size_t most, std::uint64_t seed,
                                   std::uint64_t turn);

}  // namespace gnntune::tuner
