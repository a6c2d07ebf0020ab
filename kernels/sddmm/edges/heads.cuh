// y[id_e, h] = act(scale w_e <x_row[row_e, h, :], x[col_e, h, :]>) for every edge e of a list and head h, of several.
//
// Layout   row_idx, col_idx [m]; edge_id [m] or null; edge_weight [m] or null (caller's order, one for all heads); x_row
//          [n_rows, heads, k], x [n_cols, heads, k], y [m, heads]; row-major, device memory, matrices aligned to VEC
//          elements. Matrices, weights and y are of type T: f32, f16 or bf16; sums are fp32.
// Work     unit = (edge, head), heads fastest. A warp has 32 / lanes groups and UNROLL times as many consecutive units;
//          group g -> every (32 / lanes)-th of them from g on; lane -> every lanes-th vector of VEC features.
// Data     Groups next to each other are at heads next to each other, whose features are: what a warp asks for at once
//          is of few rows, and of a row all heads or many. Vectors of x_row are asked for once where a group's units
//          are one head of one row; else L1 has the row. The sums are scattered over the lanes while they are formed;
//          a warp writes one piece of y where edges have the caller's order, and else the heads of an edge together.
// Shared   none.  Atomics: none; the order of summation depends on lanes and UNROLL only, so results repeat bit for
//          bit.
#pragma once

#include "kernels/sddmm/common/edge_dots.cuh"

namespace gnntune::sddmm_edges {

template <typename T>
struct HeadDots {
    HeadDots(const kernels::EdgeDots<T>& edges, std::int32_t heads)
        : edges(edges),
          heads(static_cast<std::uint32_t>(heads)),
          step_edges(static_cast<std::uint32_t>(32 / edges.lanes) / this->heads),
          step_heads(static_cast<std::uint32_t>(32 / edges.lanes) % this->heads) {}

    kernels::EdgeDots<T> edges;
    std::uint32_t heads;
    std::uint32_t step_edges;  ///< from a unit of a group to its next
    std::uint32_t step_heads;
};

template <typename T, int VEC, int UNROLL>
__global__ void __launch_bounds__(kernels::kEdgeDotThreads, 8) head_dots_kernel(const __grid_constant__ HeadDots<T> h) {
    const kernels::EdgeDots<T>& a = h.edges;
    const int lanes_shift = 31 - __clz(a.lanes);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const auto m = static_cast<std::uint32_t>(a.m);
    const std::uint32_t groups = 32U >> lanes_shift;
    const std::uint64_t warp = std::uint64_t{blockIdx.x} * (kernels::kEdgeDotThreads / 32) + threadIdx.x / 32;
    const std::uint64_t unit = warp * (groups * UNROLL) + (threadIdx.x % 32 >> lanes_shift);
    const auto first_edge = static_cast<std::uint32_t>(unit / h.heads);
    const auto first_head = static_cast<std::uint32_t>(unit - std::uint64_t{first_edge} * h.heads);

    // What is beyond the last edge computes it again, and is not stored: no test in what follows.
    const std::uint32_t row_bytes = h.heads * static_cast<std::uint32_t>(a.k) * static_cast<std::uint32_t>(sizeof(T));
    const T* left_at[UNROLL];
    const T* right_at[UNROLL];
    float sum[UNROLL];
    std::uint32_t edge = first_edge;
    std::uint32_t head = first_head;
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        const std::uint32_t e = min(edge, m - 1);
        const std::uint32_t at = head * static_cast<std::uint32_t>(a.k);
        left_at[u] = kernels::row_of(a.x_row, __ldg(a.row_idx + e), row_bytes) + at;
        right_at[u] = kernels::row_of(a.x, __ldg(a.col_idx + e), row_bytes) + at;
        sum[u] = 0.0F;
        edge += h.step_edges;
        head += h.step_heads;
        if (head >= h.heads) {
            head -= h.heads;
            ++edge;
        }
    }
    for (auto f = static_cast<std::uint32_t>(lane * VEC); f < static_cast<std::uint32_t>(a.k);
         f += static_cast<std::uint32_t>(a.lanes * VEC)) {
        kernels::Pack<T, VEC> left[UNROLL];
        kernels::Pack<T, VEC> right[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            right[u] = kernels::load_pack<VEC>(right_at[u] + f);
            kernels::zero(left[u]);
            if (u == 0 || left_at[u] != left_at[u > 0 ? u - 1 : 0]) left[u] = kernels::load_pack<VEC>(left_at[u] + f);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (u > 0 && left_at[u] == left_at[u > 0 ? u - 1 : 0]) left[u] = left[u > 0 ? u - 1 : 0];
            sum[u] = kernels::dot(sum[u], left[u], right[u]);
        }
    }
    kernels::scatter_sums(sum, lane, a.lanes);
    // Sum i of the group is in its lanes i / held * share and behind.
    constexpr int kShift = UNROLL == 4 ? 2 : UNROLL == 2 ? 1 : 0;
    static_assert(1 << kShift == UNROLL);
    const int share_shift = max(0, lanes_shift - kShift);
    const int held_shift = max(0, kShift - lanes_shift);
    if ((lane & ((1 << share_shift) - 1)) != 0) return;
    const std::uint32_t first = static_cast<std::uint32_t>(lane >> share_shift) << held_shift;
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
        if (i >= 1 << held_shift) break;
        const std::uint32_t beyond = first_head + (first + static_cast<std::uint32_t>(i)) * groups;
        const std::uint32_t edges = beyond / h.heads;
        const std::uint32_t e = first_edge + edges;
        if (e >= m) break;
        const std::uint32_t id = a.edge_id ? static_cast<std::uint32_t>(__ldg(a.edge_id + e)) : e;
        const float weight = a.edge_weight ? kernels::load_value(a.edge_weight + id) : 1.0F;
        const std::uint64_t place = std::uint64_t{id} * h.heads + (beyond - edges * h.heads);
        a.y[place] = kernels::narrowed<T>(a.epilogue(weight * sum[i]));
    }
}

/// Enqueues them. Throws on a launch error.
template <int VEC, int UNROLL, typename T>
void launch_head_dots(const HeadDots<T>& h, cudaStream_t stream) {
    const std::int64_t units = h.edges.m * h.heads;
    const std::int64_t of_block = std::int64_t{kernels::kEdgeDotThreads / h.edges.lanes} * UNROLL;
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(units, of_block));
    head_dots_kernel<T, VEC, UNROLL><<<blocks, kernels::kEdgeDotThreads, 0, stream>>>(h);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::sddmm_edges
