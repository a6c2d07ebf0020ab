#include "kernels/agnn/rows/launch.hpp"

#include "kernels/agnn/rows/plan.cuh"
#include "kernels/common/storage.hpp"

namespace gnntune::agnn_rows {

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const RowsParams& params, std::int32_t k,
                                      std::int32_t heads, DType dtype, StreamHandle stream) {
    kernels::RowPieces pieces = kernels::build_row_pieces(*csr, stream);
    return std::make_shared<Plan>(
        Plan{{std::move(csr), std::move(pieces), params.lanes, params.split, params.items, k, heads, dtype},
             params.stored_norms != 0});
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

}  // namespace gnntune::agnn_rows
