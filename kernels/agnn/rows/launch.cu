#include "kernels/agnn/rows/launch.hpp"

#include "kernels/agnn/rows/kernel.cuh"

namespace gnntune::agnn_rows {

struct Plan {
    kernels::AttendPlan rows;
    bool stored_norms = false;
};

namespace {

struct Scratch {
    float* inverse_norm;
    kernels::PieceResults results;
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    if (p.stored_norms) out.inverse_norm = space.take<float>(std::int64_t{p.rows.csr->n_cols} * p.rows.heads);
    out.results = kernels::take_results(p.rows, space);
    return out;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const RowsParams& params, std::int32_t k,
                                      std::int32_t heads, StreamHandle stream) {
    kernels::RowPieces pieces = kernels::build_row_pieces(*csr, stream);
    return std::make_shared<Plan>(
        Plan{{std::move(csr), std::move(pieces), params.lanes, params.split, params.items, k, heads},
             params.stored_norms != 0});
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
    if (t.inverse_norm && p.rows.csr->n_rows > 0) {
        kernels::row_inverse_norms(o.x, t.inverse_norm, std::int64_t{p.rows.csr->n_cols} * p.rows.heads, p.rows.k,
                                   stream);
    }
    kernels::launch_attend(p.rows, Cosines{o.x, o.x_row, o.beta, t.inverse_norm},
                           kernels::vector_width(p.rows.k, {o.x, o.x_row, o.y}), o.y, o.lse, t.results, stream);
}

}  // namespace gnntune::agnn_rows
