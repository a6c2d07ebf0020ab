#include "kernels/agnn_grad/rows_cols/launch.hpp"

#include "kernels/agnn_grad/rows_cols/plan.cuh"
#include "kernels/common/storage.hpp"

namespace gnntune::agnn_grad_rows_cols {

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::shared_ptr<const CsrFormat> csc,
                                      const RowsColsParams& params, std::int32_t k, std::int32_t heads,
                                      DType dtype, StreamHandle stream) {
    auto plan = std::make_shared<Plan>();
    plan->csr = std::move(csr);
    plan->csc = std::move(csc);
    plan->row_pieces = kernels::build_row_pieces(*plan->csr, stream);
    plan->col_pieces = kernels::build_row_pieces(*plan->csc, stream);
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

}  // namespace gnntune::agnn_grad_rows_cols
