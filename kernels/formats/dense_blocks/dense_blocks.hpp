// A graph as aligned blocks of 32 x 32 cells, those that hold enough edges, and the edges outside of them, on the GPU.
#pragma once

#include <cstdint>
#include <memory>

namespace gnntune::formats {

inline constexpr int kDenseBlockSize = 32;  ///< rows and columns of a block

/// A row of a block: bit c says that it has an edge from the block's column c. The edges of the bits stand in this
/// order from position `first` on.
struct alignas(8) DenseBlockRow {
    std::uint32_t mask;
    std::int32_t first;
};

/// Blocks of at least `min_cells` cells that have an edge, and the rest: edges of other blocks, and all edges of a cell
/// but its first one. Format ids "dense_blocks_8", "dense_blocks_32" and "dense_blocks_128", by min_cells. Device
/// memory.
struct DenseBlocksFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    std::int32_t min_cells = 0;
    std::int32_t n_block_rows = 0;  ///< ceil(n_rows / 32)
    std::int32_t n_blocks = 0;
    const std::int32_t* block_ptr = nullptr;    ///< [n_block_rows + 1] first block of each block row
    const std::int32_t* block_col = nullptr;    ///< [n_blocks] column / 32, ascending in each block row
    const DenseBlockRow* block_rows = nullptr;  ///< [n_blocks, 32]
    const std::int32_t* edge_id = nullptr;      ///< caller's edge of each position; null: the same
    std::int64_t n_rest = 0;                    ///< edges outside of blocks, by row, in the order of the CSR format
    std::int32_t n_rest_pieces = 0;             ///< runs of up to kRestPieceEdges of them, of one row each
    const std::int32_t* rest_ptr = nullptr;     ///< [n_rows + 1] first piece of each row
    const std::int32_t* rest_begin = nullptr;   ///< [n_rest_pieces + 1] first edge of each piece
    const std::int32_t* rest_col = nullptr;     ///< [n_rest]
    const std::int32_t* rest_id = nullptr;      ///< [n_rest] position in the caller's order; never null
    std::shared_ptr<const void> storage;
};

inline constexpr int kRestPieceEdges = 512;

inline constexpr const char* kFormatDenseBlocks8 = "dense_blocks_8";
inline constexpr const char* kFormatDenseBlocks32 = "dense_blocks_32";
inline constexpr const char* kFormatDenseBlocks128 = "dense_blocks_128";

/// Id of the format with that threshold: 8, 32 or 128 cells.
constexpr const char* dense_blocks_format(int min_cells) {
    return min_cells == 8 ? kFormatDenseBlocks8 : min_cells == 32 ? kFormatDenseBlocks32 : kFormatDenseBlocks128;
}

}  // namespace gnntune::formats
