#include "kernels/attention_grad/rows_cols/launch.hpp"

#include "kernels/attention_grad/rows_cols/kernel.cuh"

namespace gnntune::attention_grad_rows_cols {

struct Plan {
    kernels::PassPlan rows;
    kernels::PassPlan columns;
};

namespace {

struct Scratch {
    float* inner;
    kernels::PieceResults results;  ///< of rows, then of columns
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    std::int64_t sums = 0;
    std::int64_t values = 0;
    kernels::count_results<RowPass>(p.rows, sums, values);
    kernels::count_results<ColPass>(p.columns, sums, values);
    out.inner = space.take<float>(std::int64_t{p.rows.graph->n_rows} * p.rows.heads);
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
    const std::int32_t k = p.rows.k;
    const Inputs in{o.x, o.x_row, o.key, o.grad_y, o.y_saved, o.lse_saved, t.inner, logit_scale(o, k)};
    const int vec =
        kernels::vector_width(k, {o.x, o.x_row, o.key, o.grad_y, o.y_saved, o.grad_x, o.grad_x_row, o.grad_key});
    kernels::launch_pass(p.rows, RowPass{in, {o.grad_x_row}, nullptr}, vec, t.results, stream);
    kernels::launch_pass(p.columns, ColPass{in, {o.grad_x, o.grad_key}, nullptr}, vec, t.results, stream);
}

}  // namespace gnntune::attention_grad_rows_cols
