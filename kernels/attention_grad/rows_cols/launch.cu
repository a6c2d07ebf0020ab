#include "kernels/attention_grad/rows_cols/launch.hpp"

#include "kernels/attention_grad/rows_cols/plan.cuh"
#include "kernels/common/storage.hpp"

namespace gnntune::attention_grad_rows_cols {

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::shared_ptr<const CsrFormat> csc,
                                      const kernels::TileTeamParams& params, std::int32_t k, std::int32_t heads,
                                      DType dtype, StreamHandle stream) {
    return std::make_shared<Plan>(Plan{kernels::make_pass_plan(std::move(csr), params, k, heads, dtype, stream),
                                       kernels::make_pass_plan(std::move(csc), params, k, heads, dtype, stream)});
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(p.rows.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_typed<T>(p, o, workspace, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::attention_grad_rows_cols
