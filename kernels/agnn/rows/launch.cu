#include "kernels/agnn/rows/launch.hpp"

#include "kernels/agnn/rows/kernel.cuh"
#include "kernels/common/attention.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::agnn_rows {

struct Plan {
    std::shared_ptr<const CsrFormat> csr;
    kernels::RowPieces pieces;
    RowsParams params;
    std::int32_t k = 0;
    std::int32_t heads = 0;
};

namespace {

struct Scratch {
    float* inverse_norm;
    kernels::PieceResults results;
};

Scratch cut(const Plan& p, kernels::WorkspaceCutter& space) {
    Scratch out{};
    const std::int64_t slots = std::int64_t{p.pieces.slots} * p.heads;
    if (p.params.stored_norms != 0) out.inverse_norm = space.take<float>(std::int64_t{p.csr->n_cols} * p.heads);
    out.results.sums = space.take<kernels::SoftmaxSum>(slots);
    out.results.values = space.take<float>(slots * p.k);
    return out;
}

template <int VEC, int ITEMS>
void launch_shape(const Plan& p, Arguments a, cudaStream_t stream) {
    const int lanes = p.params.lanes;
    const int team = lanes * p.params.split;
    a.row_blocks = static_cast<unsigned>(kernels::ceil_div(std::int64_t{a.n_rows} * a.heads, kThreads / team));
    const auto piece_blocks = static_cast<unsigned>(static_cast<std::int64_t>(p.pieces.pieces.size()) * a.heads);
    const dim3 grid(a.row_blocks + piece_blocks,
                    static_cast<unsigned>(kernels::ceil_div(p.k, kernels::tile_width(lanes, ITEMS, VEC))));
    rows_kernel<VEC, ITEMS><<<grid, kThreads, 0, stream>>>(a, lanes, p.params.split);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC>
void launch_items(const Plan& p, const Arguments& a, cudaStream_t stream) {
    switch (p.params.items) {
        case 4:
            return launch_shape<VEC, 4>(p, a, stream);
        case 2:
            return launch_shape<VEC, 2>(p, a, stream);
        default:
            return launch_shape<VEC, 1>(p, a, stream);
    }
}

}  // namespace

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, const RowsParams& params, std::int32_t k,
                                      std::int32_t heads, StreamHandle stream) {
    auto plan = std::make_shared<Plan>();
    plan->csr = std::move(csr);
    plan->pieces = kernels::build_row_pieces(*plan->csr, stream);
    plan->params = params;
    plan->k = k;
    plan->heads = heads;
    return plan;
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    cut(p, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    const CsrFormat& g = *p.csr;
    if (g.n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(p, space);
    if (t.inverse_norm) {
        kernels::row_inverse_norms(o.x, t.inverse_norm, std::int64_t{g.n_cols} * p.heads, p.k, stream);
    }
    const Arguments a{g.row_ptr,
                      g.col_idx,
                      o.x,
                      o.x_row,
                      o.beta,
                      t.inverse_norm,
                      o.y,
                      o.lse,
                      p.pieces.pieces.data(),
                      t.results,
                      g.n_rows,
                      p.heads,
                      p.k,
                      p.pieces.long_row,
                      0};
    // A tile is lanes * items vectors: pointers of this run that allow narrower ones only make for more tiles.
    switch (kernels::vector_width(p.k, {o.x, o.x_row, o.y})) {
        case 4:
            launch_items<4>(p, a, stream);
            break;
        case 2:
            launch_items<2>(p, a, stream);
            break;
        default:
            launch_items<1>(p, a, stream);
            break;
    }
    if (p.pieces.split.size() == 0) return;
    kernels::merge_pieces<<<static_cast<unsigned>(p.pieces.split.size() * static_cast<std::size_t>(p.heads)),
                            kernels::kMergeThreads, 0, stream>>>(p.pieces.split.data(), t.results.sums,
                                                                 t.results.values, o.y, o.lse, p.heads, p.k, true);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::agnn_rows
