// Softmax over rows by edge-parallel kernels with atomics, as in fuseGNN (paper, section 5.1: an edge per thread, the sum
// by atomicAdd, then a division), with the maximum that its code leaves out. Shared by edge_softmax.gas, gat.gas and
// gat.gar.
//
//   edge_max       key[row, h] = max over the row of the logit's key (atomicMax; any order gives the same)
//   edge_exp       p[id, h] = exp(logit - max), sum[row, h] += p (atomicAdd: not deterministic). Sums are doubles: fp32
//                  adds one after the other would lose more than the tolerance on a row of 200,000 edges
//   edge_finish    p[id, h] = finish(p / sum)
//
// Layout   row_idx, col_idx [m] in any order; edge_id [m] or null; sums, then keys [n_rows, heads], both
//          zeroed beforehand (0 is below every key); p [m, heads] in the caller's order. A thread per edge and head.
// `Logit` has logit(id, row, col, head), `Finish` has finish(value, id, head).
#pragma once

#include "core/graph/formats.hpp"
#include "kernels/common/attention.cuh"

namespace gnntune::kernels {

struct EdgeList {
    const std::int32_t* row_idx;
    const std::int32_t* col_idx;
    const std::int32_t* edge_id;
    std::int64_t m;
    std::int32_t heads;
};

/// Sums and maxima of rows, [n_rows, heads] each, in 12 bytes per row and head.
struct RowSums {
    double* sums;
    std::uint32_t* keys;

    RowSums(void* workspace, std::int64_t units)
        : sums(static_cast<double*>(workspace)), keys(reinterpret_cast<std::uint32_t*>(sums + units)) {}
};

/// The edge and head of a thread.
struct EdgeHead {
    std::int64_t row;
    std::int64_t col;
    std::int64_t id;
    int head;
    bool here;

    __device__ __forceinline__ explicit EdgeHead(const EdgeList& g) {
        const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
        const std::int64_t e = at / g.heads;
        here = e < g.m;
        if (!here) return;
        head = static_cast<int>(at - e * g.heads);
        row = __ldg(g.row_idx + e);
        col = __ldg(g.col_idx + e);
        id = g.edge_id ? __ldg(g.edge_id + e) : e;
    }
};

template <typename Logit>
__global__ void edge_max(EdgeList g, Logit source, std::uint32_t* __restrict__ keys) {
    const EdgeHead t(g);
    if (t.here) atomicMax(keys + t.row * g.heads + t.head, float_key(source.logit(t.id, t.row, t.col, t.head)));
}

template <typename Logit>
__global__ void edge_exp(EdgeList g, Logit source, const std::uint32_t* __restrict__ keys, float* __restrict__ p,
                         double* __restrict__ sums) {
    const EdgeHead t(g);
    if (!t.here) return;
    const std::int64_t unit = t.row * g.heads + t.head;
    const float term = softmax_term(source.logit(t.id, t.row, t.col, t.head), float_of_key(__ldg(keys + unit)));
    p[t.id * g.heads + t.head] = term;
    atomicAdd(sums + unit, static_cast<double>(term));
}

template <typename Finish>
__global__ void edge_finish(EdgeList g, Finish last, const double* __restrict__ sums, float* __restrict__ p) {
    const EdgeHead t(g);
    if (!t.here) return;
    const std::int64_t at = t.id * g.heads + t.head;
    const float term = p[at];
    // A row of logits -infinity has sum 0.
    p[at] = term == 0.0F ? 0.0F
                         : last.finish(term / static_cast<float>(__ldg(sums + t.row * g.heads + t.head)), t.id, t.head);
}

inline EdgeList edge_list(const CooFormat& g, std::int32_t heads) {
    return {g.row_idx, g.col_idx, g.edge_id, g.m, heads};
}

/// Enqueues the three kernels, sums and keys zeroed first.
template <typename Logit, typename Finish>
void launch_edge_passes(const CooFormat& g, std::int32_t heads, Logit source, Finish last, const RowSums& rows,
                        float* p, int block_size, cudaStream_t stream) {
    const std::int64_t units = std::int64_t{g.n_rows} * heads;
    if (units > 0) GNNTUNE_CUDA(cudaMemsetAsync(rows.sums, 0, static_cast<std::size_t>(units) * 12, stream));
    if (g.m == 0) return;
    const auto blocks = static_cast<unsigned>(ceil_div(g.m * heads, block_size));
    const auto threads = static_cast<unsigned>(block_size);
    const EdgeList list = edge_list(g, heads);
    edge_max<<<blocks, threads, 0, stream>>>(list, source, rows.keys);
    edge_exp<<<blocks, threads, 0, stream>>>(list, source, rows.keys, p, rows.sums);
    edge_finish<<<blocks, threads, 0, stream>>>(list, last, rows.sums, p);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::kernels
