// The formats every build knows: CSR, COO and SGT tiles of a graph in one direction, as variants see them.
//
// Weights do not live in a format: they arrive with each run, in the caller's edge order. `edge_id` leads from a position
// in the format to the position in the caller's order; null means that both orders are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/graph/types.hpp"

namespace gnntune {

/// Edges grouped by row, those of a row in the caller's order: `edge_id` ascends inside it. Format id "csr".
struct CsrFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    const std::int32_t* row_ptr = nullptr;  ///< [n_rows + 1]
    const std::int32_t* col_idx = nullptr;  ///< [m]
    const std::int32_t* edge_id = nullptr;  ///< [m] or null
    std::shared_ptr<const void> storage;    ///< keeps the arrays alive; null for borrowed ones
};

/// Edges as pairs, in any order (format id "coo") or by ascending row (format id "coo_sorted").
struct CooFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    const std::int32_t* row_idx = nullptr;  ///< [m]
    const std::int32_t* col_idx = nullptr;  ///< [m]
    const std::int32_t* edge_id = nullptr;  ///< [m] or null
    std::shared_ptr<const void> storage;
};

/// TC-GNN's sparse graph translation: the distinct columns of each window of block_height rows, ascending, dealt out into
/// TC blocks of block_width columns. Edges are grouped by TC block; inside one they ascend by column, then by row, then by
/// position in the CSR format, so that duplicates of an edge are neighbours. Format id "sgt": 16 x 8.
struct SgtFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    std::int32_t block_height = 16;
    std::int32_t block_width = 8;
    std::int32_t n_windows = 0;                   ///< ceil(n_rows / block_height)
    std::int32_t n_blocks = 0;                    ///< a window without edges has none
    const std::int32_t* window_ptr = nullptr;     ///< [n_windows + 1] first TC block of each window
    const std::int32_t* block_ptr = nullptr;      ///< [n_blocks + 1] first edge of each TC block
    const std::int32_t* block_cols = nullptr;     ///< [n_blocks, block_width] columns, -1 behind a window's last one
    const std::uint8_t* tile_position = nullptr;  ///< [m] row in the window * block_width + column in the TC block
    const std::int32_t* edge_id = nullptr;        ///< [m] never null
    std::shared_ptr<const void> storage;
};

inline constexpr const char* kFormatCsr = "csr";
/// Edges grouped by column: the CsrFormat of the opposite direction.
inline constexpr const char* kFormatCsc = "csc";
inline constexpr const char* kFormatCoo = "coo";
inline constexpr const char* kFormatCooSorted = "coo_sorted";
inline constexpr const char* kFormatSgt = "sgt";

}  // namespace gnntune
