// What a plan holds between its runs, and how it is run for one storage type.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "core/gpu/device_buffer.hpp"
#include "core/registry/variant.hpp"
#include "kernels/formats/dense_blocks/dense_blocks.hpp"
#include "kernels/sddmm/dense_blocks/params.hpp"

namespace gnntune::sddmm_dense_blocks {

/// A block of the format, a warp's work, and which 32 rows of x_row and of x it multiplies.
struct BlockPlace {
    std::int32_t block;
    std::int32_t row;  ///< / 32, as col
    std::int32_t col;
};

struct Plan {
    std::shared_ptr<const formats::DenseBlocksFormat> blocks;
    DenseBlocksParams params;
    std::int32_t k = 0;
    DType dtype = DType::f32;
    bool weighted = false;
    DeviceBuffer<BlockPlace> places;      ///< all blocks; neighbours share rows of x_row or of x, where they can
    DeviceBuffer<std::int32_t> rest_row;  ///< [n_rest] row of each edge outside of blocks
};

/// Of shared memory, for a thread block: its eight warps' stages of rows of both operands, and masks (kernel.cuh).
constexpr std::int64_t shared_bytes(int stages) {
    return 8 * (stages * 4096 + formats::kDenseBlockSize * static_cast<std::int64_t>(sizeof(formats::DenseBlockRow)));
}

/// Fills in the places and rows, and makes the kernels ready. Synchronises `stream`.
void find_places(Plan& plan, StreamHandle stream);

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, cudaStream_t stream);
/// What has to be done before the first of them.
template <typename T>
void prepare_typed(const Plan& plan);

}  // namespace gnntune::sddmm_dense_blocks
