// What is done to a graph after its edges are drawn: labels, second directions, self loops, weights.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/graph/types.hpp"

namespace gnntune::generate {

/// Random relabelling, or none. Square graphs have one permutation for rows and columns.
class Labels {
public:
    Labels(std::int32_t n_rows, std::int32_t n_cols, bool same_vertices, bool shuffle, std::uint64_t seed);

    bool shuffled() const { return !row_slots_.empty(); }
    std::int32_t row_slot(std::int32_t label) const {
        return shuffled() ? row_slots_[static_cast<std::size_t>(label)] : label;
    }
    /// Only where shuffled().
    std::int32_t column_label(std::int32_t slot) const { return column_labels_[static_cast<std::size_t>(slot)]; }

private:
    std::vector<std::int32_t> row_slots_;
    std::vector<std::int32_t> column_labels_;
};

/// Adds entry (j, i) for every entry (i, j) and sorts each row. `half` is square, has no diagonal and one direction of
/// each edge, columns in any order. Result and order do not depend on threads.
CsrGraph with_both_directions(const CsrGraph& half);

/// Square graph of the given pairs, both directions, or the one that the seed picks for each pair.
CsrGraph graph_of_pairs(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs, bool symmetric,
                        std::uint64_t seed);

/// Keeps of every pair of opposite entries of a square graph the one that the seed picks. Columns stay sorted.
CsrGraph with_one_direction(const CsrGraph& graph, std::uint64_t seed);

/// Adds the diagonal entry of `count` vertices chosen at random. The graph is square, sorted and without diagonal.
void add_self_loops(CsrGraph& graph, std::int64_t count, std::uint64_t seed);

/// Fills edge_weight with odd multiples of 2^-24 in (-1, 1): both signs, never zero, exact in float. The weight depends
/// on seed, row and column; with `symmetric` not on the direction.
void add_weights(CsrGraph& graph, bool symmetric, std::uint64_t seed);

}  // namespace gnntune::generate
