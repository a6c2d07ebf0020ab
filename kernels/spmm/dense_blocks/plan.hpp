// What a plan holds between its runs, and how it is run for one storage type.
#pragma once

#include <cstdint>
#include <memory>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/formats/dense_blocks/dense_blocks.hpp"
#include "kernels/spmm/dense_blocks/params.hpp"

namespace gnntune::spmm_dense_blocks {

/// Blocks [begin, end) of a block row: a thread block's work. Row r of the block row puts its sum to y, or to slot
/// first_slot + r count + index where the block row is cut into `count` pieces.
struct BlockPiece {
    std::int32_t block_row;
    std::int32_t begin;
    std::int32_t end;
    std::int32_t first_slot;  ///< -1: the piece is the whole block row
    std::int32_t count;
    std::int32_t index;
};

struct Plan {
    std::shared_ptr<const formats::DenseBlocksFormat> blocks;
    std::shared_ptr<const CsrFormat> csr;  ///< for the mean, whose rows' degrees it has; else null
    DenseBlocksParams params;
    std::int32_t k = 0;
    DType dtype = DType::f32;
    bool weighted = false;
    bool self_loop = false;
    DeviceBuffer<BlockPiece> pieces;
    kernels::RowPieces split;  ///< rows of block rows of several pieces
};

/// Of shared memory, for a thread block: three stages of rows of x and the cells of a block (stages.cuh), and barriers.
constexpr std::int64_t shared_bytes(int tile, std::size_t element_bytes, bool weighted) {
    const bool wide = element_bytes == 4;
    const int rows = formats::kDenseBlockSize * (tile + 8);
    const int cells = (wide ? 4 : 2) * (4 * 32 + 4) * (wide && !weighted ? 2 : 4);
    return 3 * (rows + cells) * static_cast<std::int64_t>(element_bytes) + 6 * 8;
}

/// Fills in the pieces and the split rows, and makes the kernels ready. Synchronises `stream`.
void cut_block_rows(Plan& plan, StreamHandle stream);

/// Sums of cut block rows, then of the pieces of edges outside of blocks; fp32.
std::size_t workspace_bytes(const Plan& plan);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

/// The same for a plan whose dtype is T, and what has to be done before the first of them; there is a translation unit
/// for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);
template <typename T>
void prepare_typed(const Plan& plan);

}  // namespace gnntune::spmm_dense_blocks
