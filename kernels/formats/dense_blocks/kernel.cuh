// Kernels that build dense blocks (build.cu has their order). A thread for each edge, candidate block or row; preparing
// only.
//
// A key is (block row, block column, row in the block, column in the block) of an edge, the last two of 5 bits each.
// Sorted edges are numbered p. A candidate is an aligned block that has an edge.
#pragma once

#include <cstdint>

#include "kernels/formats/dense_blocks/dense_blocks.hpp"

namespace gnntune::formats {

inline constexpr int kBlockThreads = 256;
inline constexpr int kCellBits = 10;  ///< of a key: row and column in the block

__device__ __forceinline__ std::int64_t block_thread() {
    return blockIdx.x * static_cast<std::int64_t>(kBlockThreads) + threadIdx.x;
}

/// keys[e]; *descends becomes 1 where a row's columns do not ascend strictly.
static __global__ void write_block_keys(const std::int32_t* __restrict__ rows, const std::int32_t* __restrict__ cols,
                                        std::int64_t m, int col_bits, std::uint64_t* __restrict__ keys,
                                        std::int32_t* __restrict__ descends) {
    const std::int64_t e = block_thread();
    if (e >= m) return;
    const auto row = static_cast<std::uint32_t>(rows[e]);
    const auto col = static_cast<std::uint32_t>(cols[e]);
    const auto block = static_cast<std::uint64_t>(row / kDenseBlockSize) << col_bits | col / kDenseBlockSize;
    keys[e] = block << kCellBits | (row % kDenseBlockSize) << 5 | col % kDenseBlockSize;
    if (e > 0 && rows[e - 1] == rows[e] && cols[e - 1] >= cols[e]) *descends = 1;
}

/// cells[p] and blocks[p]: 1 where p is the first edge of its cell or of its candidate.
static __global__ void flag_cells(const std::uint64_t* __restrict__ keys, std::int64_t m,
                                  std::int32_t* __restrict__ cells, std::int32_t* __restrict__ blocks) {
    const std::int64_t p = block_thread();
    if (p >= m) return;
    cells[p] = p == 0 || keys[p - 1] != keys[p] ? 1 : 0;
    blocks[p] = p == 0 || keys[p - 1] >> kCellBits != keys[p] >> kCellBits ? 1 : 0;
}

/// begin[b]: first edge of candidate b; begin[candidates] = m. `blocks` are the inclusive sums of the flags.
static __global__ void find_candidates(const std::int32_t* __restrict__ blocks, std::int64_t m,
                                       std::int32_t* __restrict__ begin) {
    const std::int64_t p = block_thread();
    if (p >= m) return;
    if (p == 0 || blocks[p - 1] != blocks[p]) begin[blocks[p] - 1] = static_cast<std::int32_t>(p);
    if (p + 1 == m) begin[blocks[p]] = static_cast<std::int32_t>(m);
}

/// kept[b]: 1 where candidate b has enough cells; 0 behind the last one. `cells` are the inclusive sums of the flags.
static __global__ void keep_candidates(const std::int32_t* __restrict__ cells, const std::int32_t* __restrict__ begin,
                                       std::int32_t candidates, std::int32_t min_cells,
                                       std::int32_t* __restrict__ kept) {
    const std::int64_t b = block_thread();
    if (b > candidates) return;
    kept[b] = b < candidates && cells[begin[b + 1] - 1] - cells[begin[b]] + 1 >= min_cells ? 1 : 0;
}

/// Places of the kept candidates. `kept` are the exclusive sums of the flags.
static __global__ void write_blocks(const std::uint64_t* __restrict__ keys, const std::int32_t* __restrict__ begin,
                                    const std::int32_t* __restrict__ kept, std::int32_t candidates, int col_bits,
                                    std::int32_t* __restrict__ block_row, std::int32_t* __restrict__ block_col) {
    const std::int64_t b = block_thread();
    if (b >= candidates || kept[b] == kept[b + 1]) return;
    const std::uint64_t block = keys[begin[b]] >> kCellBits;
    block_row[kept[b]] = static_cast<std::int32_t>(block >> col_bits);
    block_col[kept[b]] = static_cast<std::int32_t>(block & ((std::uint64_t{1} << col_bits) - 1));
}

/// block_ptr[w]: how many blocks lie in block rows before w.
static __global__ void find_block_rows(const std::int32_t* __restrict__ block_row, std::int32_t n_blocks,
                                       std::int32_t n_block_rows, std::int32_t* __restrict__ block_ptr) {
    const std::int64_t w = block_thread();
    if (w > n_block_rows) return;
    std::int32_t low = 0;
    std::int32_t high = n_blocks;
    while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        if (block_row[middle] < w) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    block_ptr[w] = low;
}

/// in_block[p]: 1 for the first edge of each cell of a block; rest[e]: 1 for the other edges, by their place in the CSR
/// format. Both are 0 behind the last edge.
static __global__ void part_edges(const std::int32_t* __restrict__ cells, const std::int32_t* __restrict__ blocks,
                                  const std::int32_t* __restrict__ kept, const std::int32_t* __restrict__ positions,
                                  std::int64_t m, std::int32_t* __restrict__ in_block,
                                  std::int32_t* __restrict__ rest) {
    const std::int64_t p = block_thread();
    if (p > m) return;
    if (p == m) {
        in_block[m] = 0;
        rest[m] = 0;
        return;
    }
    const std::int32_t b = blocks[p] - 1;
    const bool inside = kept[b] != kept[b + 1] && (p == 0 || cells[p - 1] != cells[p]);
    in_block[p] = inside ? 1 : 0;
    rest[positions[p]] = inside ? 0 : 1;
}

/// Masks and first positions of the blocks' rows, zeroed before; bits are set in any order and come out the same.
/// `in_block` are the exclusive sums. `edge_id` null: positions are those of the CSR format.
static __global__ void write_block_cells(const std::uint64_t* __restrict__ keys,
                                         const std::int32_t* __restrict__ blocks, const std::int32_t* __restrict__ kept,
                                         const std::int32_t* __restrict__ positions,
                                         const std::int32_t* __restrict__ in_block, std::int64_t m,
                                         const std::int32_t* __restrict__ csr_edge_id,
                                         std::int32_t* __restrict__ edge_id, DenseBlockRow* __restrict__ block_rows) {
    const std::int64_t p = block_thread();
    if (p >= m || in_block[p] == in_block[p + 1]) return;
    const std::uint64_t key = keys[p];
    const std::int64_t block = kept[blocks[p] - 1];
    DenseBlockRow* row = block_rows + block * kDenseBlockSize + static_cast<int>(key >> 5 & 31);
    atomicOr(&row->mask, 1U << static_cast<int>(key & 31));
    if (p == 0 || keys[p - 1] >> 5 != key >> 5) row->first = edge_id ? in_block[p] : positions[p];
    if (edge_id) edge_id[in_block[p]] = csr_edge_id ? csr_edge_id[positions[p]] : positions[p];
}

/// The edges outside of blocks. `rest` are the exclusive sums.
static __global__ void write_rest(const std::int32_t* __restrict__ rest, const std::int32_t* __restrict__ cols,
                                  const std::int32_t* __restrict__ csr_edge_id, std::int64_t m,
                                  std::int32_t* __restrict__ rest_col, std::int32_t* __restrict__ rest_id) {
    const std::int64_t e = block_thread();
    if (e >= m || rest[e] == rest[e + 1]) return;
    rest_col[rest[e]] = cols[e];
    rest_id[rest[e]] = csr_edge_id ? csr_edge_id[e] : static_cast<std::int32_t>(e);
}

/// pieces[row]: pieces of the row's edges outside of blocks; 0 behind the last row.
static __global__ void count_rest_pieces(const std::int32_t* __restrict__ rest, const std::int32_t* __restrict__ ptr,
                                         std::int32_t n_rows, std::int32_t* __restrict__ pieces) {
    const std::int64_t row = block_thread();
    if (row > n_rows) return;
    std::int32_t edges = 0;
    if (row < n_rows) edges = rest[ptr[row + 1]] - rest[ptr[row]];
    pieces[row] = edges / kRestPieceEdges + (edges % kRestPieceEdges > 0 ? 1 : 0);
}

/// begin[i] of every piece, and where the last one ends. `pieces` are the exclusive sums. Pieces of a row are alike.
static __global__ void write_rest_pieces(const std::int32_t* __restrict__ rest, const std::int32_t* __restrict__ ptr,
                                         const std::int32_t* __restrict__ pieces, std::int32_t n_rows,
                                         std::int32_t* __restrict__ begin) {
    const std::int64_t row = block_thread();
    if (row > n_rows) return;
    const std::int32_t first = pieces[row];
    const std::int32_t from = rest[ptr[row]];
    if (row == n_rows) {
        begin[first] = from;
        return;
    }
    const std::int32_t count = pieces[row + 1] - first;
    const std::int64_t edges = rest[ptr[row + 1]] - from;
    for (std::int32_t i = 0; i < count; ++i) begin[first + i] = from + static_cast<std::int32_t>(edges * i / count);
}

}  // namespace gnntune::formats
