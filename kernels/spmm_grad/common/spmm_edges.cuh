// What gradients of spmm do with an edge, for kernels/common/column_pass.cuh: spmm_grad.binned.
//
//   grad_x[j, :] = sum over edges e with source j of w_e s_i grad_y[i, :] (+ self_weight[j] s_j grad_y[j, :])
//   grad_edge_weight[e] = s_i <grad_y[i, :], x[j, :]>                  s_i = 1, for the mean 1 / terms of row i
//   grad_self_weight[j] = s_j <grad_y[j, :], x[j, :]>                  a column's own sum, of the group that leads it
// and of a maximum over the features f alone in which argmax[i, f] = e, both of them, with s_i = 1. Of several heads
// each by its own weights.
//
// Layout   edge_id of the CSC, or null, leads to the caller's order, in which edge_weight and its gradient [m, heads]
//          stand. Unweighted problems have neither: dot products of edges are not formed then. self_weight and its
//          gradient [n, heads], or null. argmax [n_rows, k] aligned to 16 bytes.
#pragma once

#include "kernels/common/column_pass.cuh"
#include "kernels/common/self_term.cuh"

namespace gnntune::kernels {

/// What a gradient is of: sums and means of one head without self loops, those of any number of heads with or without,
/// or maxima.
enum class Of { sums, heads, maxima };

template <typename T, Of OF>
struct SpmmEdges {
    struct Term {
        std::int32_t id;  ///< in the caller's order
        float weight;
        float factor;
    };
    static constexpr bool kHeavy = false;
    static constexpr bool kZeroDrops = false;
    static constexpr bool kSelects = OF == Of::maxima;
    static constexpr bool kSelfLoops = OF == Of::heads;

    const std::int32_t* edge_id;
    const std::int32_t* row_ptr;  ///< of the rows, for the mean of self loops; else null
    const float* edge_share;      ///< [m] in the order of the CSC: of the mean; else null
    const T* edge_weight;
    T* grad_edge_weight;
    const std::int32_t* marks;  ///< argmax; null but for maxima
    bool edge_ids_aligned;      ///< to four
    SelfTerm<T> self;
    T* grad_self_weight;
    std::int32_t heads;

    __device__ __forceinline__ float column(std::int64_t) const { return 0.0F; }
    __device__ __forceinline__ Term load(std::uint32_t e, std::int32_t, int head) const {
        Term t{static_cast<std::int32_t>(e), 1.0F, 1.0F};
        if (edge_weight) {
            if (edge_id) t.id = __ldg(edge_id + e);
            t.weight = load_value(edge_weight + of_head(t.id, head));
        }
        if (!kSelects && edge_share) t.factor = __ldg(edge_share + e);
        return t;
    }
    __device__ __forceinline__ float weigh(const Term& t, float, int) const { return t.factor * t.weight; }
    __device__ __forceinline__ float finish(const Term& t, int head, float dot) const {
        grad_edge_weight[of_head(t.id, head)] = narrowed<T>(t.factor * dot);
        return 0.0F;
    }
    /// Where a list [., heads] has the head's value.
    __device__ __forceinline__ std::int64_t of_head(std::int32_t at, int head) const {
        return OF == Of::heads ? static_cast<std::int64_t>(at) * heads + head : at;
    }
    __device__ __forceinline__ float self_share(std::int32_t i) const {
        if (!row_ptr) return 1.0F;
        return self.mean_factor(static_cast<std::uint32_t>(__ldg(row_ptr + i + 1) - __ldg(row_ptr + i)));
    }
    __device__ __forceinline__ bool self_loops() const { return self.weight != nullptr; }
    __device__ __forceinline__ float self_weight(std::int64_t unit) const { return load_value(self.weight + unit); }
    __device__ __forceinline__ void store(const RowTask& task, std::int64_t unit, float own) const {
        if (!kSelfLoops || !self_loops() || !task.leads) return;
        const auto head =
            static_cast<int>(unit - static_cast<std::int64_t>(task.slot < 0 ? task.row : task.slot) * heads);
        grad_self_weight[of_head(task.row, head)] = narrowed<T>(own);
    }
    template <int VEC, int ITEMS, int RUN>
    __device__ __forceinline__ void select(const EdgeRun<RUN>& run, const std::int32_t (&rows)[RUN],
                                           const RowElements& lane, SelectedElements<VEC, ITEMS, RUN>& selected) const {
        std::int32_t ids[RUN];
        if (edge_id) {
            load_run(edge_id, run, ids, edge_ids_aligned);
        } else {
#pragma unroll
            for (int u = 0; u < RUN; ++u) ids[u] = static_cast<std::int32_t>(run.first + static_cast<std::uint32_t>(u));
        }
        selected.find(marks, run, rows, ids, lane);
    }
};

}  // namespace gnntune::kernels
