// What a plan holds between its runs, and how it is run for one storage type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/common/binned_rows.hpp"
#include "kernels/spmm/binned/params.hpp"

namespace gnntune::spmm_binned {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    kernels::BinnedRows rows;
    BinnedParams params;
    std::int32_t k;      ///< features of all heads
    std::int32_t heads;  ///< that have weights of their own
    DType dtype;
    bool weighted;
    bool mean;
    bool self_loop;
};

std::size_t workspace_bytes(const Plan& plan);
/// Enqueues one run on the device that is current. Throws on a launch error.
void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::spmm_binned
