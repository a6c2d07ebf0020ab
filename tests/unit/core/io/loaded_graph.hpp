// The arrays of a graph that was read, to compare with.
#pragma once

#include <cstdint>
#include <vector>

#include "core/io/graph_io.hpp"

namespace gnntune::test {

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

inline Ints rows(const io::LoadedGraph& g) {
    return {g.graph.row_ptr.begin(), g.graph.row_ptr.end()};
}
inline Ints cols(const io::LoadedGraph& g) {
    return {g.graph.col_idx.begin(), g.graph.col_idx.end()};
}
inline Floats weights(const io::LoadedGraph& g) {
    return {g.graph.edge_weight.begin(), g.graph.edge_weight.end()};
}

}  // namespace gnntune::test
