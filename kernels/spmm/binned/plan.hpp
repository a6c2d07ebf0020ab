// What a plan holds between its runs, and how it is run for one storage type.
#pragma once

#include <memory>

#include "kernels/common/binned_rows.hpp"
#include "kernels/spmm/binned/launch.hpp"

namespace gnntune::spmm_binned {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    BinnedParams params;
    std::int32_t k = 0;
    DType dtype = DType::f32;
    bool weighted = false;
    bool mean = false;
    kernels::BinnedRows rows;
};

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::spmm_binned
