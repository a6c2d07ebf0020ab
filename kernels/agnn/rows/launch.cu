#include "kernels/agnn/rows/launch.hpp"

#include "kernels/agnn/rows/plan.cuh"
#include "kernels/common/storage.hpp"

namespace gnntune::agnn_rows {

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const RowsParams& params, std::int32_t k,
                                      std::int32_t heads, DType dtype, StreamHandle stream) {
    auto plan = std::make_shared<Plan>();
    plan->csr = std::move(csr);
    plan->pieces = kernels::build_row_pieces(*plan->csr, stream);
    plan->params = params;
    plan->k = k;
    plan->heads = heads;
    plan->dtype = dtype;
    return plan;
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(p.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(p, o, workspace, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::agnn_rows
