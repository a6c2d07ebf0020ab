#include "kernels/attention/rows/launch.hpp"

#include "kernels/attention/rows/kernel.cuh"

namespace gnntune::attention_rows {

struct Plan {
    kernels::AttendPlan rows;
};

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const kernels::TileTeamParams& params,
                                      std::int32_t k, std::int32_t heads, StreamHandle stream) {
    kernels::RowPieces pieces = kernels::build_row_pieces(*csr, stream);
    return std::make_shared<Plan>(
        Plan{{std::move(csr), std::move(pieces), params.lanes, params.split, params.items, k, heads}});
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    kernels::take_results(p.rows, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::WorkspaceCutter space(workspace);
    kernels::launch_attend(p.rows, Products{o.x, o.x_row, o.key, logit_scale(o, p.rows.k)},
                           kernels::vector_width(p.rows.k, {o.x, o.x_row, o.key, o.y}), o.y, o.lse,
                           kernels::take_results(p.rows, space), static_cast<cudaStream_t>(stream));
}

}  // namespace gnntune::attention_rows
