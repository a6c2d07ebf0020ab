// Reading the parameters that kinds share: sizes, entries, self loops.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "core/generate/parameters.hpp"
#include "core/graph/types.hpp"

namespace gnntune::generate {

/// Throws where a graph would not fit the int32 formats.
inline void require_entries(const Parameters& p, std::int64_t m) {
    if (m > kMaxEdges) {
        throw unsupported(p.kind() + ": " + std::to_string(m) +
                          " entries exceed the 2^31-1 that the int32 formats hold; lower m or the sizes");
    }
}

/// Self loops asked for on n vertices.
inline std::int64_t self_loops_of(const Parameters& p, std::int64_t n) {
    const std::int64_t count = p.integer("self_loops");
    if (count > n) {
        throw p.error("self_loops is " + std::to_string(count) + ", expected at most the " + std::to_string(n) +
                      " vertices, or -1 for all of them");
    }
    return count < 0 ? n : count;
}

/// Edges to make so that, with `loops` self loops, m entries are stored: pairs where symmetric, else entries.
inline std::int64_t edges_for(const Parameters& p, std::int64_t m, std::int64_t loops, bool symmetric) {
    require_entries(p, m);
    if (m < loops) {
        throw p.error("m is " + std::to_string(m) + ", expected at least the " + std::to_string(loops) + " self loops");
    }
    if (symmetric && (m - loops) % 2 != 0) {
        throw p.error("a symmetric graph of " + std::to_string(m) + " entries with " + std::to_string(loops) +
                      " self loops is impossible, for every other edge is stored twice; change m or self_loops by one");
    }
    return symmetric ? (m - loops) / 2 : m - loops;
}

}  // namespace gnntune::generate
