// What a plan holds between its runs, and how it is run for one storage type.
#pragma once

#include <memory>
#include <vector>

#include "core/gpu/device_buffer.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/spmm/binned/bins.hpp"
#include "kernels/spmm/binned/launch.hpp"
#include "kernels/spmm/binned/sort_rows.hpp"

namespace gnntune::spmm_binned {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    BinnedParams params;
    std::int32_t k = 0;
    DType dtype = DType::f32;
    bool weighted = false;
    bool mean = false;
    SortedRows rows;
    kernels::RowPieces pieces;
    std::vector<Bin> bins;
    unsigned blocks = 0;  ///< pieces among them
};

/// launch() for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_typed(const Plan& plan, const Operands& operands, void* workspace, cudaStream_t stream);

}  // namespace gnntune::spmm_binned
