#include "kernels/csr_to_csc/cusparse/launch.hpp"

#include "kernels/common/cusparse.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune::csr_to_csc_cusparse {
namespace {

std::size_t positions_bytes(const CsrFormat& csr) {
    return csr.edge_id ? 0 : kernels::align_up(static_cast<std::size_t>(csr.m) * sizeof(std::int32_t));
}

}  // namespace

std::size_t workspace_bytes(const CsrFormat& csr, StreamHandle stream) {
    const kernels::CusparseLease handle(static_cast<cudaStream_t>(stream));
    std::size_t bytes = 0;
    // The sizes decide; addresses are looked at for being there.
    auto* here = const_cast<std::int32_t*>(csr.col_idx);
    GNNTUNE_CUSPARSE(cusparseCsr2cscEx2_bufferSize(
        handle.get(), csr.n_rows, csr.n_cols, static_cast<int>(csr.m), here, csr.row_ptr, csr.col_idx, here, here, here,
        CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &bytes));
    return positions_bytes(csr) + kernels::align_up(bytes);
}

void launch(const CsrFormat& csr, const Operands& o, void* workspace, StreamHandle stream) {
    const std::int32_t* names = csr.edge_id;
    if (!names) {
        formats::fill_positions(static_cast<std::int32_t*>(workspace), csr.m, stream);
        names = static_cast<std::int32_t*>(workspace);
    }
    const kernels::CusparseLease handle(static_cast<cudaStream_t>(stream));
    GNNTUNE_CUSPARSE(cusparseCsr2cscEx2(handle.get(), csr.n_rows, csr.n_cols, static_cast<int>(csr.m), names,
                                        csr.row_ptr, csr.col_idx, o.out_edge_id, o.out_ptr, o.out_idx, CUDA_R_32F,
                                        CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1,
                                        static_cast<unsigned char*>(workspace) + positions_bytes(csr)));
}

}  // namespace gnntune::csr_to_csc_cusparse
