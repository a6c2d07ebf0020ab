// A graph of any number of edges as tiles of rows. A tile is an ordinary rectangular graph, n_tile x n_cols, with int32
// offsets of its own, so that kernels know nothing of it; its rows are those of the graph from `first_row` on.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/fingerprint.hpp"
#include "core/graph/types.hpp"

namespace gnntune {

/// Compressed sparse rows in host memory whose edges need not be counted by 32 bits, borrowed. Ids still are: there are at
/// most 2^31 - 2 rows and columns.
struct WideCsrView {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    const void* row_ptr = nullptr;  ///< [n_rows + 1] non-decreasing, from 0 to m
    bool wide_offsets = true;       ///< row_ptr is of int64, else of int32
    const void* col_idx = nullptr;  ///< [m], each in [0, n_cols)
    bool wide_ids = false;          ///< col_idx is of int64, else of int32

    std::int64_t offset(std::int64_t row) const {
        return wide_offsets ? static_cast<const std::int64_t*>(row_ptr)[row]
                            : std::int64_t{static_cast<const std::int32_t*>(row_ptr)[row]};
    }
    std::int64_t id(std::int64_t edge) const {
        return wide_ids ? static_cast<const std::int64_t*>(col_idx)[edge]
                        : std::int64_t{static_cast<const std::int32_t*>(col_idx)[edge]};
    }
};

struct RowTile {
    std::int32_t first_row = 0;
    std::int32_t n_rows = 0;
    std::int64_t first_edge = 0;
    std::int64_t m = 0;  ///< at most kMaxEdges
    std::int32_t longest_row = 0;
};

/// Where it costs no more tiles, they begin at multiples of so many rows, so that what has a value for each row can be
/// sliced without losing its alignment.
inline constexpr std::int32_t kTileRows = 16;

/// Throws ErrorKind::input naming the first broken rule of the offsets, and ErrorKind::unsupported for sizes over int32.
void validate_offsets(const WideCsrView& csr);
/// The same of the ids. On all threads.
void validate_ids(const WideCsrView& csr);

/// Tiles of at most `most_edges` edges (1 to kMaxEdges), each as large as that allows. A row that has more is a tile of
/// its own; throws ErrorKind::unsupported if one has more than kMaxEdges. The offsets must be valid. A graph without rows
/// has no tiles.
std::vector<RowTile> cut_rows(const WideCsrView& csr, std::int64_t most_edges);

/// The tile's own offsets, [tile.n_rows + 1], from 0.
void copy_offsets(const WideCsrView& csr, const RowTile& tile, std::int32_t* out);
/// Ids of the edges from `first` on, narrowed. On all threads.
void copy_ids(const WideCsrView& csr, std::int64_t first, std::int64_t count, std::int32_t* out);
/// On all threads.
void copy_bytes(const void* from, std::size_t bytes, void* to);

/// Sums over tiles add up to those of the graph: the fingerprint of a graph does not know how it was cut, and is that of
/// the same graph in one piece where there is one.
FingerprintSums fingerprint_sums(const WideCsrView& csr, const RowTile& tile);
Fingerprint fingerprint(const WideCsrView& csr);

}  // namespace gnntune
