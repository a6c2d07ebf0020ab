#include "kernels/spmm/binned/launch.hpp"

#include "kernels/common/storage.hpp"
#include "kernels/spmm/binned/plan.hpp"

namespace gnntune::spmm_binned {

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const BinnedParams& params, std::int32_t k,
                                      bool weighted, bool mean, DType dtype, StreamHandle stream) {
    auto p = std::make_shared<Plan>();
    p->params = params;
    p->k = k;
    p->dtype = dtype;
    p->weighted = weighted;
    p->mean = mean;
    p->rows = kernels::bin_rows(*csr, params.shape(), stream);
    p->csr = std::move(csr);
    return p;
}

std::size_t workspace_bytes(const Plan& p) {
    return static_cast<std::size_t>(p.rows.pieces.slots) * static_cast<std::size_t>(p.k) * sizeof(float);
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::with_storage(
        p.dtype, [&]<typename T>(std::type_identity<T>) { launch_typed<T>(p, o, workspace, stream); });
}

}  // namespace gnntune::spmm_binned
