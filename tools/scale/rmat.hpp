// An R-MAT graph of billions of edges in seconds, row by row: no list of edges is ever made or sorted.
//
// Each of `scale` levels halves rows and columns, and an edge falls into a quadrant with probabilities a, b, c and
// d = 1 - a - b - c. So the bits of its row are independent, each 1 with probability c + d, and given them so are those of
// its column: 1 with probability b / (a + b) where the row's bit is 0, d / (c + d) where it is 1. A row's number of edges is
// drawn first (Poisson, of the row's share), then each edge's column, all of whose bits at once. Ids of rows and of columns
// are shuffled, each by a bijection of its own, so that neither degrees nor columns ascend. Columns of a row stand in no
// order, and may repeat.
//
// The same seed gives the same graph, whatever the threads.
#pragma once

#include <cstdint>
#include <vector>

namespace gnntune::scale {

struct Rmat {
    int scale = 26;                      ///< 2^scale rows and columns; 1 to 30
    std::int64_t edges = 3'000'000'000;  ///< expected; what is drawn is off by about its root
    double a = 0.57;
    double b = 0.19;
    double c = 0.19;
    std::uint64_t seed = 1;

    std::int64_t n() const { return std::int64_t{1} << scale; }
};

/// [n + 1] from 0 to the number of edges.
std::vector<std::int64_t> row_offsets(const Rmat& rmat);
/// Columns of all edges, [row_ptr[n]].
void fill_columns(const Rmat& rmat, const std::vector<std::int64_t>& row_ptr, std::int32_t* col_idx);

/// A number in [-1, 1) that depends on `index` and `stream` alone: elements of arrays that nobody has to keep.
float value_at(std::uint64_t stream, std::uint64_t index);

}  // namespace gnntune::scale
