// What a plan holds between its runs, and how it is run for one storage type.
#pragma once

#include <cstdint>
#include <memory>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/spmm/mma/params.hpp"

namespace gnntune::spmm_mma {

/// Columns 2t and 2t + 1 of a TC block, for one t of 0 to 3: bit 16 c + r says that row r has an edge from column 2t +
/// c. Their edges stand from `first` on, in the order of the bits.
struct alignas(8) BlockCells {
    std::uint32_t mask;
    std::int32_t first;
};

/// TC blocks [begin, end) of a window: a warp's work. Row r of the window puts its sum to y, or to slot first_slot +
/// r count + index where the window is cut into `count` pieces.
struct WindowPiece {
    std::int32_t window;
    std::int32_t begin;
    std::int32_t end;
    std::int32_t first_slot;  ///< -1: the piece is the whole window
    std::int32_t count;
    std::int32_t index;
    std::int32_t multiple;  ///< not 0: several edges share a cell
};

struct Plan {
    std::shared_ptr<const SgtFormat> sgt;
    std::shared_ptr<const CsrFormat> csr;  ///< for the mean, whose rows' degrees it has; else null
    MmaParams params;
    std::int32_t k = 0;
    DType dtype = DType::f32;
    bool weighted = false;
    bool self_loop = false;
    bool single_pass = false;        ///< operands in fp32 are rounded to TF32, not split in two
    DeviceBuffer<BlockCells> cells;  ///< [n_blocks, 4]
    DeviceBuffer<WindowPiece> pieces;
    kernels::RowPieces split;  ///< rows of windows of several pieces
};

/// Fills in the cells, the pieces and the split rows. Synchronises `stream`.
void cut_windows(Plan& plan, StreamHandle stream);

std::size_t workspace_bytes(const Plan& plan);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

/// The same for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_mma
