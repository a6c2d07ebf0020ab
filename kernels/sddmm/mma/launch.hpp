// What a plan holds between its runs, and how it is run for one storage type.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/formats/sgt/window_pieces.hpp"
#include "kernels/sddmm/mma/params.hpp"

namespace gnntune::sddmm_mma {

struct Plan {
    std::shared_ptr<const SgtFormat> sgt;
    MmaParams params;
    std::int32_t k = 0;
    DType dtype = DType::f32;
    bool weighted = false;
    bool single_pass = false;                  ///< operands in fp32 are rounded to TF32, not split in two
    DeviceBuffer<kernels::BlockRange> pieces;  ///< the work of a warp each, none without edges
};

/// Enqueues one run on operands of type T on the device that is current; there is a translation unit for each of float,
/// Float16 and BFloat16. Throws on a launch error.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, cudaStream_t stream);

}  // namespace gnntune::sddmm_mma
