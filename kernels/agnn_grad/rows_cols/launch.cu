#include "kernels/agnn_grad/rows_cols/launch.hpp"

#include "kernels/agnn_grad/rows_cols/kernel.cuh"
#include "kernels/common/head_sums.cuh"

namespace gnntune::agnn_grad_rows_cols {

struct Plan {
    kernels::PassPlan rows;
    kernels::PassPlan columns;
};

namespace {

struct Scratch {
    float2* row_info;
    float* row_beta;
    float* partial_beta;
    kernels::PieceResults results;  ///< of rows, then of columns
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    const std::int64_t n_rows = p.rows.graph->n_rows;
    std::int64_t sums = 0;
    std::int64_t values = 0;
    kernels::count_results<RowPass>(p.rows, sums, values);
    kernels::count_results<ColPass>(p.columns, sums, values);
    out.row_info = space.take<float2>(n_rows * p.rows.heads);
    out.row_beta = space.take<float>(n_rows * p.rows.heads);
    out.partial_beta = space.take<float>(kernels::head_sum_blocks(n_rows) * p.rows.heads);
    out.results.sums = space.take<kernels::SoftmaxSum>(sums);
    out.results.values = space.take<float>(values);
    return out;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, std::shared_ptr<const CsrFormat> csc,
                                      const kernels::TileTeamParams& params, std::int32_t k, std::int32_t heads,
                                      StreamHandle stream) {
    return std::make_shared<Plan>(Plan{kernels::make_pass_plan(std::move(csr), params, k, heads, stream),
                                       kernels::make_pass_plan(std::move(csc), params, k, heads, stream)});
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    const Inputs in{o.x, o.x_row, o.beta, o.grad_y, o.y_saved, o.lse_saved, t.row_info};
    const int vec = kernels::vector_width(p.rows.k, {o.x, o.x_row, o.grad_y, o.y_saved, o.grad_x, o.grad_x_row});
    kernels::launch_pass(p.rows, RowPass{in, {o.grad_x_row}, t.row_beta}, vec, t.results, stream);
    kernels::launch_pass(p.columns, ColPass{in, {o.grad_x}, nullptr}, vec, t.results, stream);
    kernels::head_sums(t.row_beta, p.rows.graph->n_rows, p.rows.heads, t.partial_beta, o.grad_beta, stream);
}

}  // namespace gnntune::agnn_grad_rows_cols
