// Sparse graph translation (TC-GNN, section 4.1, Algorithm 1) for TC blocks of any height and width.
//
// The rows are cut into windows of block_height. The distinct columns of a window, ascending, are condensed to 0, 1, 2,
// ... and dealt out into TC blocks of block_width; a window without edges has no TC block. Edges are stored grouped by
// TC block, so that a tile reads its own edges and no others. Order of the edges: window, column, row, CSR position.
//
// Two steps, the same on both backends: counting sorts the edges and gives window_ptr, whose last entry is the number
// of TC blocks; filling writes everything else. Both backends give the same arrays, bit for bit. Neither step
// allocates, and the CUDA steps do not synchronise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/common/error.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/workspace.hpp"

namespace gnntune::formats {

struct SgtShape {
    std::int32_t block_height = 16;
    std::int32_t block_width = 8;

    constexpr std::int64_t cells() const { return std::int64_t{block_height} * block_width; }
    /// Bytes of one tile position.
    constexpr std::size_t position_bytes() const { return cells() <= 256 ? 1 : 2; }
};

/// Throws ErrorKind::invalid_argument unless both sides are positive and a tile position fits into 16 bits.
inline void validate(const SgtShape& s) {
    if (s.block_height >= 1 && s.block_width >= 1 && s.cells() <= 65536) return;
    throw invalid_argument("TC blocks of " + std::to_string(s.block_height) + " x " + std::to_string(s.block_width) +
                           ": expected positive sides and at most 65536 cells");
}

inline std::int32_t sgt_windows(std::int32_t n_rows, const SgtShape& s) {
    return static_cast<std::int32_t>((std::int64_t{n_rows} + s.block_height - 1) / s.block_height);
}

/// No graph of these sizes has more TC blocks: each has an edge, and all but the last of a window are full.
inline std::int64_t sgt_max_blocks(std::int32_t n_rows, std::int64_t m, const SgtShape& s) {
    return std::min(m, m / s.block_width + sgt_windows(n_rows, s));
}

/// Adds a 256-byte aligned place of `bytes` to a workspace of `total` bytes so far; returns where it begins.
inline std::size_t take_place(std::size_t bytes, std::size_t* total) {
    const std::size_t place = *total;
    *total += kernels::align_workspace(bytes);
    return place;
}

/// Where the result goes. Sizes as in SgtFormat, with n_blocks or any larger number.
struct SgtArrays {
    std::int32_t* window_ptr = nullptr;
    std::int32_t* block_ptr = nullptr;
    std::int32_t* block_cols = nullptr;
    void* tile_position = nullptr;  ///< uint8 or uint16: SgtShape::position_bytes()
    std::int32_t* edge_id = nullptr;
};

/// Host memory, OpenMP over windows. `scratch` has sgt_scratch_bytes_cpu(m) bytes and keeps the sorted edges in
/// between.
inline std::size_t sgt_scratch_bytes_cpu(std::int64_t m) {
    return static_cast<std::size_t>(m) * sizeof(std::uint64_t);
}
void sgt_count_cpu(const CsrFormat& csr, const SgtShape& shape, std::int32_t* window_ptr, void* scratch);
void sgt_fill_cpu(const CsrFormat& csr, const SgtShape& shape, const SgtArrays& out, const void* scratch);

/// Places in the scratch memory of a translation on the GPU; bytes from its start, which is 256-byte aligned.
struct SgtScratch {
    std::size_t keys[2] = {};
    std::size_t positions[2] = {};  ///< empty where keys have room for the places in the caller's order
    std::size_t temporary = 0;
    std::size_t temporary_bytes = 0;
    std::size_t total = 0;
};
SgtScratch sgt_scratch_cuda(std::int32_t n_rows, std::int32_t n_cols, std::int64_t m, const SgtShape& shape);

/// The sorted edges that counting leaves in the scratch memory.
struct SgtSorted {
    /// High bits to low bits: window, column, row in the window, edge id or nothing.
    const std::uint64_t* keys = nullptr;
    const std::int32_t* positions = nullptr;  ///< in the CSR format; null where keys have the edge id
    const std::int32_t* distinct = nullptr;   ///< distinct (window, column) pairs up to and with this edge
    std::int32_t row_bits = 0;
    std::int32_t col_bits = 0;
    std::int32_t id_bits = 0;
};

/// Device memory, parallel over edges whatever the windows are. Enqueued on `stream`; capturable.
SgtSorted sgt_count_cuda(const CsrFormat& csr, const SgtShape& shape, std::int32_t* window_ptr,
                         const SgtScratch& places, void* scratch, StreamHandle stream);
void sgt_fill_cuda(const CsrFormat& csr, const SgtShape& shape, const SgtArrays& out, const SgtSorted& sorted,
                   StreamHandle stream);

}  // namespace gnntune::formats
