#include "kernels/agnn/unfused/launch.hpp"

#include "kernels/agnn/unfused/kernel.cuh"
#include "kernels/common/row_dots.cuh"
#include "kernels/common/unfused_attention.cuh"

namespace gnntune::agnn_unfused {

struct Plan {
    kernels::UnfusedPlan layer;
};

namespace {

struct Scratch {
    float* inverse_row;  ///< [n_rows, heads]
    float* inverse_col;  ///< [n_cols, heads]
    kernels::UnfusedScratch layer;
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    out.inverse_row = space.take<float>(std::int64_t{p.layer.csr->n_rows} * p.layer.heads);
    out.inverse_col = space.take<float>(std::int64_t{p.layer.csr->n_cols} * p.layer.heads);
    out.layer = kernels::take_unfused(p.layer, space);
    return out;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, kernels::PartPlans parts, std::int32_t k,
                                      std::int32_t heads, StreamHandle stream) {
    return std::make_shared<Plan>(
        Plan{kernels::make_unfused_plan(std::move(csr), std::move(parts), k, heads, false, stream)});
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    const CsrFormat& g = *p.layer.csr;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    kernels::row_inverse_norms(o.x_row, t.inverse_row, std::int64_t{g.n_rows} * p.layer.heads, p.layer.k, stream);
    kernels::row_inverse_norms(o.x, t.inverse_col, std::int64_t{g.n_cols} * p.layer.heads, p.layer.k, stream);
    kernels::launch_unfused(p.layer, o, o.x, t.layer,
                            Logits{t.layer.logit, t.inverse_row, t.inverse_col, o.beta, o.lse}, {}, stream_handle);
}

}  // namespace gnntune::agnn_unfused
