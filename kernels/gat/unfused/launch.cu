#include "kernels/gat/unfused/launch.hpp"

#include "kernels/common/head_major.cuh"
#include "kernels/gat/unfused/kernel.cuh"

namespace gnntune::gat_unfused {
namespace {

struct Workspace {
    float* e;
    float* alpha;
    float* weight;           ///< [heads, m], padded
    std::uint32_t* highest;  ///< two arrays of n_rows heads
    float* x = nullptr;      ///< [heads, n_cols, k], padded; heads > 1 only
    float* y = nullptr;
    void* parts;
    std::size_t bytes;

    Workspace(const State& s, void* base) {
        const CooFormat& g = *s.coo;
        WorkspaceCutter cut(base);
        e = cut.take<float>(g.m * s.heads);
        alpha = cut.take<float>(g.m * s.heads);
        weight = cut.take<float>(head_stride(g.m) * s.heads);
        highest = cut.take<std::uint32_t>(2 * std::int64_t{g.n_rows} * s.heads);
        if (s.heads > 1) {
            x = cut.take<float>(head_stride(std::int64_t{g.n_cols} * s.k) * s.heads);
            y = cut.take<float>(head_stride(std::int64_t{g.n_rows} * s.k) * s.heads);
        }
        parts = cut.take<char>(static_cast<std::int64_t>(s.parts.workspace_bytes));
        bytes = cut.bytes();
    }
};

}  // namespace

std::size_t workspace_bytes(const State& s) {
    return Workspace(s, nullptr).bytes;
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const CooFormat& g = *s.coo;
    const Workspace w(s, workspace);
    const std::int64_t units = std::int64_t{g.n_rows} * s.heads;
    std::uint32_t* highest = o.lse ? w.highest : nullptr;
    if (highest && units > 0) {
        GNNTUNE_CUDA(cudaMemsetAsync(highest, 0, static_cast<std::size_t>(units) * 8, stream));
    }
    const EdgeList list = edge_list(g, s.heads);
    const GatSoftmax softmax{gat_scores<float>(o, s.heads)};
    const auto blocks = static_cast<unsigned>(ceil_div(g.m * s.heads, kThreads));
    if (blocks > 0) logit_kernel<<<blocks, kThreads, 0, stream>>>(list, softmax, w.e, highest);
    GNNTUNE_CUDA(cudaGetLastError());

    Operands softmax_part;
    softmax_part.edge_weight = w.e;
    softmax_part.y = w.alpha;
    s.parts[kSoftmax].run(softmax_part, w.parts, stream);

    if (blocks > 0) {
        weight_kernel<<<blocks, kThreads, 0, stream>>>(list, softmax, w.e, w.alpha, w.weight, head_stride(g.m), highest,
                                                       highest ? highest + units : nullptr);
    }
    if (highest && units > 0) {
        lse_kernel<<<static_cast<unsigned>(ceil_div(units, kThreads)), kThreads, 0, stream>>>(highest + units, o.lse,
                                                                                              units);
    }
    GNNTUNE_CUDA(cudaGetLastError());

    if (s.heads > 1) launch_head_major(o.x, w.x, g.n_cols, s.heads, s.k, true, stream);
    for (std::int32_t h = 0; h < s.heads; ++h) {
        Operands spmm;
        spmm.x = s.heads > 1 ? w.x + h * head_stride(std::int64_t{g.n_cols} * s.k) : o.x;
        spmm.edge_weight = w.weight + h * head_stride(g.m);
        spmm.y = s.heads > 1 ? w.y + h * head_stride(std::int64_t{g.n_rows} * s.k) : o.y;
        s.parts[kSpmm].run(spmm, w.parts, stream);
    }
    if (s.heads > 1) launch_head_major(w.y, o.y, g.n_rows, s.heads, s.k, false, stream);
}

}  // namespace gnntune::gat_unfused
