// A pass over columns that gathers a row of grad_y for every edge once and uses it twice: for its dot product with the
// column's row of x, which gradients of edges are made of, and for the weighted sum that is the column's row of grad_x.
//
// Layout   cols: CSR of the opposite direction; x, grad_x [n_cols, heads, k], grad_y [n_rows, heads, k], of type T
//          (f32, f16 or bf16), row-major, device memory, aligned to VEC elements. x null: no dot products are formed and none is asked for;
//          `dots` false: none with edges.
// Work     Columns binned by degree (kernels/common/binned_rows.hpp): a team of one or more groups of `lanes` threads
//          has a column, or a piece of a long one. `head_lanes` neighbours of a group have a head: every head_lanes-th
//          vector of VEC features, ITEMS of them. Group -> every n-th run of RUN edges. grid.y: heads.
// Data     A lane's part of x[j] stays in registers. Per run it has RUN ITEMS vectors of grad_y in flight. Dot products
//          are scattered over the head's lanes while they are formed: a lane ends with those of HELD edges, and has
//          what is scalar of these to do. Weights are made under the gathers and handed out.
// Shared   sums of every lane of a group for each warp, for teams of several warps.
// Needs    HELD = max(1, RUN / head_lanes).
// Atomics  none; the order of summation depends on the params, the degree, the place of the first edge and whether
//          ids are aligned to four only.
//
// Edges, the kernel's template argument, is what an op does with an edge:
//   Term                              what it needs of an edge
//   bool kHeavy                       weigh() takes many registers
//   bool kZeroDrops                   an edge of weight 0 adds nothing, whatever grad_y holds
//   bool kSelects                     an edge has some elements of its row of grad_y only: which is read first, and of
//                                     grad_y the vectors that have one. Then also:
//   void select(run, rows, elements, selected)  says which, of the lane's RowElements of each edge
//   bool kSelfLoops                   a column may have an edge to itself besides those of the CSC: it is added
//                                     after them in f32, before them in 16 bits. Then also:
//   bool self_loops()                 whether columns have
//   float self_share(column)          what its gradients are multiplied with
//   float self_weight(unit)
//   float column(unit)                what all edges of a column and head share; unit: column heads + head
//   Term load(edge, row, head)        what memory has of it; edge: its place in the CSC
//   float weigh(Term&, column, head)  its weight in grad_x
//   float finish(Term, head, dot)     stores what the dot product is for; returns its share of the column's own sum
//   void store(task, unit, sum)       the column's own sum; unit: (column or slot) heads + head
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/binned_rows.cuh"
#include "kernels/common/column_pass.hpp"
#include "kernels/common/edge_runs.cuh"
#include "kernels/common/group_reduce.cuh"
#include "kernels/common/head_groups.cuh"
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/prefetch.cuh"

namespace gnntune::kernels {

template <typename T>
struct ColumnPass {
    BinnedRowsView cols;
    const std::int32_t* row_idx;  ///< of the CSC
    const T* x;
    const T* grad_y;
    T* grad_x;
    float* partial;  ///< [slots, heads, k] grad_x of pieces of split columns
    std::int64_t m;
    std::int32_t k;
    std::int32_t heads;
    int lanes;
    int head_lanes;
    bool dots;         ///< of every edge's row of grad_y with the column's row of x
    bool ids_aligned;  ///< row_idx to four elements
};

/// What a lane has summed up.
template <int VEC, int ITEMS>
using ColumnSums = LaneSums<VEC, ITEMS>;

/// A lane's elements of a row of grad_y, all heads together.
struct RowElements {
    std::int64_t begin;      ///< the first of them
    std::uint32_t elements;  ///< of a row
    int vectors;             ///< of this lane
    int step;                ///< elements from one to the next
    bool inside;             ///< this lane has a head
};

/// Which elements of a lane's vectors are their edge's: a bit for each.
template <int VEC, int ITEMS, int RUN>
struct SelectedElements {
    static constexpr int kOfEdge = ITEMS * VEC;
    unsigned bits[(RUN * kOfEdge + 31) / 32];

    __device__ __forceinline__ unsigned of(int u, int i) const {
        const int at = u * kOfEdge + i * VEC;  // VEC divides 32
        return bits[at / 32] >> (at % 32) & ((1U << VEC) - 1U);
    }
    /// Compares the marks of a run's edges with their ids, those of 32 elements at once. `marks`: [rows, elements],
    /// aligned to 16 bytes.
    __device__ __forceinline__ void find(const std::int32_t* marks, const EdgeRun<RUN>& run,
                                         const std::int32_t (&rows)[RUN], const std::int32_t (&ids)[RUN],
                                         const RowElements& lane) {
        marks += lane.begin;
        const auto row_bytes = lane.elements * static_cast<std::uint32_t>(sizeof(std::int32_t));
        const bool inside = lane.inside;
        const int items = lane.vectors;
        const int step = lane.step;
        constexpr int kAtOnce = VEC < 4 ? VEC : 4;
        constexpr int kPacks = kOfEdge / kAtOnce;
        constexpr int kBatch = kOfEdge >= 32 ? 1 : RUN * kOfEdge > 32 ? 32 / kOfEdge : RUN;
#pragma unroll
        for (unsigned& word : bits) word = 0;
#pragma unroll
        for (int first = 0; first < RUN; first += kBatch) {
            Pack<std::int32_t, kAtOnce> mark[kBatch][kPacks];
#pragma unroll
            for (int u = 0; u < kBatch; ++u) {
                std::int32_t row = rows[first + u];
                // The same row, but not before the bits of the last batch are known: else the compiler starts all
                // batches at once and spills.
                if (first > 0) row &= static_cast<std::int32_t>(bits[(first * kOfEdge - 1) / 32] | 0x7fffffffU);
#pragma unroll
                for (int p = 0; p < kPacks; ++p) {
                    const int i = p * kAtOnce / VEC;
                    zero(mark[u][p]);
                    if (inside && run.has(first + u) && i < items) {
                        mark[u][p] = load_pack<kAtOnce>(row_of(marks, row, row_bytes) + i * step + p * kAtOnce % VEC);
                    }
                }
            }
#pragma unroll
            for (int u = 0; u < kBatch; ++u) {
                const bool here = inside && run.has(first + u);
#pragma unroll
                for (int p = 0; p < kPacks; ++p) {
                    // Nothing was read of others: zeros, which are no id of theirs.
                    const std::int32_t id = here && p * kAtOnce / VEC < items ? ids[first + u] : kNoMark;
#pragma unroll
                    for (int j = 0; j < kAtOnce; ++j) {
                        const int at = (first + u) * kOfEdge + p * kAtOnce + j;
                        bits[at / 32] |= (mark[u][p].v[j] == id ? 1U : 0U) << at % 32;
                    }
                }
            }
            // Else the compiler keeps the marks and compares again where a bit is asked for.
#pragma unroll
            for (unsigned& word : bits) asm("" : "+r"(word));
        }
    }

private:
    static constexpr std::int32_t kNoMark = -2;  // -1 is that of rows without edges
};

/// The vectors that have a selected element, zeros for others. `grad_y`: this lane's of row 0.
template <int VEC, int ITEMS, int RUN, typename T>
__device__ __forceinline__ void gather_selected(const T* grad_y, std::uint32_t row_bytes,
                                                const std::int32_t (&rows)[RUN],
                                                const SelectedElements<VEC, ITEMS, RUN>& selected, int step,
                                                Pack<T, VEC> (&value)[RUN][ITEMS]) {
#pragma unroll
    for (int u = 0; u < RUN; ++u) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            zero(value[u][i]);
            if (selected.of(u, i) != 0) value[u][i] = load_pack<VEC>(row_of(grad_y, rows[u], row_bytes) + i * step);
        }
    }
}

/// dot += <x, value> and sum += w * value in the elements whose bit is set.
template <int VEC, typename T>
__device__ __forceinline__ void fma_selected(unsigned selected, float w, const Pack<T, VEC>& x,
                                             const Pack<T, VEC>& value, float& dot, Vec<VEC>& sum) {
#pragma unroll
    for (int j = 0; j < VEC; ++j) {
        if ((selected >> j & 1U) == 0) continue;  // an infinite x or w must not turn nothing into NaN
        dot = fmaf(widened(x.v[j]), widened(value.v[j]), dot);
        sum.v[j] = fmaf(w, widened(value.v[j]), sum.v[j]);
    }
}

/// Edges of a team that this group has. HELD edges of a run end with one lane.
template <int VEC, int ITEMS, int RUN, int HELD, typename T, typename Edges>
__device__ __forceinline__ ColumnSums<VEC, ITEMS> walk_column(const ColumnPass<T>& a, const Edges& edges,
                                                              const RowTask& task, int group, int groups,
                                                              const HeadPlace& place) {
    ColumnSums<VEC, ITEMS> r{};
    if (task.row < 0) return r;
    const int step = a.head_lanes * VEC;
    const std::int64_t unit = static_cast<std::int64_t>(task.row) * a.heads + place.head;
    const float column = place.inside ? edges.column(unit) : 0.0F;
    Pack<T, VEC> x[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        zero(x[i]);
        if (a.x && place.inside && place.f + i * step < a.k)
            x[i] = load_pack<VEC>(a.x + unit * a.k + place.f + i * step);
    }
    // In f32 a self loop's row of grad_y is on its way into L2 while the edges are walked: no registers wait for it.
    [[maybe_unused]] const auto own_term = [&](const auto& of) {
        const float share = of.self_share(task.row);
        const float w = share * of.self_weight(unit);
        float dot_own = 0.0F;
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            if (place.f + i * step >= a.k) continue;
            const auto value = load_pack<VEC>(a.grad_y + unit * a.k + place.f + i * step);
            dot_own = dot(dot_own, x[i], value);
            fma(r.x[i], w, value);
        }
        r.own += share * dot_own;
    };
    constexpr bool kOwnLast = sizeof(T) == 4;
    [[maybe_unused]] bool has_own = false;
    if constexpr (Edges::kSelfLoops) {
        has_own = edges.self_loops() && task.leads && group == 0 && place.inside;
        if (has_own && kOwnLast) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                if (place.f + i * step < a.k) prefetch(a.grad_y + unit * a.k + place.f + i * step);
            }
        }
        if (has_own && !kOwnLast) own_term(edges);
    }
    [[maybe_unused]] const RowElements lane{static_cast<std::int64_t>(place.head) * a.k + place.f,
                                            static_cast<std::uint32_t>(a.heads) * static_cast<std::uint32_t>(a.k),
                                            (a.k - place.f + step - 1) / step, step, place.inside};
    // Lanes of this head in the warp; the first of those that have this lane's edges; where that edge's lanes begin.
    const unsigned mask = head_mask(a.head_lanes);
    const int share = HELD > 1 ? 1 : a.head_lanes / RUN;
    const int mine = place.lane / share * HELD;
    const bool writes = (place.lane & (share - 1)) == 0;
    const TeamWalk<RUN> walk(task.begin, task.end, group, groups, a.m, a.ids_aligned);
    for (std::uint32_t e = walk.start; e < task.end; e += walk.stride) {
        const EdgeRun<RUN> run = walk.run(e);
        std::int32_t rows[RUN];
        Pack<T, VEC> value[RUN][ITEMS];
        [[maybe_unused]] SelectedElements<VEC, ITEMS, RUN> selected;
        typename Edges::Term terms[HELD];
        bool here[HELD];
        load_run(a.row_idx, run, rows);
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            const std::uint32_t edge = e + static_cast<std::uint32_t>(mine + i);
            here[i] = place.inside && edge >= task.begin && edge < task.end;
            if (here[i]) terms[i] = edges.load(edge, __ldg(a.row_idx + edge), place.head);
        }
        if constexpr (Edges::kSelects) {
            edges.select(run, rows, lane, selected);
            gather_selected(a.grad_y + lane.begin, lane.elements * static_cast<std::uint32_t>(sizeof(T)), rows,
                            selected, step, value);
        } else {
#pragma unroll
            for (int u = 0; u < RUN; ++u) {
                const bool gathers = place.inside && run.has(u);
                const std::int64_t at = (static_cast<std::int64_t>(rows[u]) * a.heads + place.head) * a.k + place.f;
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) {
                    zero(value[u][i]);
                    if (gathers && place.f + i * step < a.k) value[u][i] = load_pack<VEC>(a.grad_y + at + i * step);
                }
            }
        }
        // Weights first, while the gathers are under way: a vector is done with as soon as it is here.
        float weight[HELD];
#pragma unroll
        for (int i = 0; i < HELD; ++i) weight[i] = here[i] ? edges.weigh(terms[i], column, place.head) : 0.0F;
        float dots[RUN];
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
            const float w = __shfl_sync(mask, weight[u % HELD], u / HELD * share, a.head_lanes);
            dots[u] = 0.0F;
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                if constexpr (Edges::kSelects) {
                    fma_selected(selected.of(u, i), w, x[i], value[u][i], dots[u], r.x[i]);
                } else {
                    dots[u] = dot(dots[u], x[i], value[u][i]);
                    if (!Edges::kZeroDrops || w != 0.0F) fma(r.x[i], w, value[u][i]);
                }
            }
        }
        if (!a.dots) continue;
        scatter_sums(dots, place.lane, a.head_lanes, mask);
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            if (here[i] && writes) r.own += edges.finish(terms[i], place.head, dots[i]);
        }
    }
    if constexpr (Edges::kSelfLoops) {
        if (has_own && kOwnLast) own_term(edges);
    }
    return r;
}

/// Registers of a thread: as few as go without spills that are felt, for warps whose gathers overlap. At most 128, for
/// blocks of kMaxBinThreads.
template <int VEC, int ITEMS, int RUN, int HELD, typename T, typename Edges>
constexpr int column_registers() {
    constexpr int kWords = RUN * ITEMS * VEC * static_cast<int>(sizeof(T)) / 4 + 2 * ITEMS * VEC + 8 * (HELD - 1);
    // Marks stand where the vectors will be, but ids, rows and bits stand beside them.
    if (Edges::kSelects) return RUN * ITEMS * VEC <= 16 ? 80 : ITEMS < 4 && VEC <= 4 ? 96 : 112;
    return (kWords <= 32 ? 64 : kWords <= 48 ? 80 : 112) + (Edges::kHeavy ? 16 : 0);
}

template <int VEC, int ITEMS, int RUN, int HELD, typename T, typename Edges>
__global__ void GNNTUNE_BIN_BOUNDS((column_registers<VEC, ITEMS, RUN, HELD, T, Edges>()))
    columns_kernel(const __grid_constant__ ColumnPass<T> a, const __grid_constant__ Edges edges) {
    extern __shared__ float shared[];  // [warps][lanes][1 + ITEMS VEC]
    const RowTask task = row_task(a.cols);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const HeadPlace place = head_place(a.lanes, a.head_lanes, VEC, a.heads);
    ColumnSums<VEC, ITEMS> r =
        walk_column<VEC, ITEMS, RUN, HELD>(a, edges, task, group, task.team >> lanes_shift, place);

    merge_groups(r, a.lanes, a.head_lanes, task.team, group, shared);
    if (task.row < 0 || group != 0 || !place.inside) return;
    const bool whole = task.slot < 0;
    const std::int64_t unit = static_cast<std::int64_t>(whole ? task.row : task.slot) * a.heads + place.head;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int f = place.f + i * a.head_lanes * VEC;
        if (f >= a.k) continue;
        if (whole) {
            store_streaming(a.grad_x + unit * a.k + f, r.x[i]);
        } else {
            store_sums(a.partial + unit * a.k + f, r.x[i]);
        }
    }
    if (place.lane == 0) edges.store(task, unit, r.own);
}

template <int VEC, int ITEMS, int RUN, int HELD, typename T, typename Edges>
void launch_columns(const BinnedRows& cols, const ColumnPassParams& p, const ColumnPass<T>& a, const Edges& edges,
                    cudaStream_t stream) {
    const int threads = p.shape().threads;
    const dim3 grid(cols.blocks, static_cast<unsigned>(p.tiles(a.k, a.heads)));
    const auto shared = static_cast<std::size_t>(cols.has_teams_of_warps() ? p.shared_bytes() : 0);
    columns_kernel<VEC, ITEMS, RUN, HELD><<<grid, static_cast<unsigned>(threads), shared, stream>>>(a, edges);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC, typename T, typename Edges>
void launch_column_vectors(const BinnedRows& cols, const ColumnPassParams& p, const ColumnPass<T>& a,
                           const Edges& edges, cudaStream_t stream) {
    const int held = std::max(1, p.run / a.head_lanes);
    if constexpr (VEC * sizeof(T) == 16) {
        if (p.items == 4) return launch_columns<VEC, 4, 2, 1>(cols, p, a, edges, stream);
        if (p.items == 2 && p.run == 2) return launch_columns<VEC, 2, 2, 1>(cols, p, a, edges, stream);
        if (p.run == 8) {
            if (held == 4) return launch_columns<VEC, 1, 8, 4>(cols, p, a, edges, stream);
            if (held == 2) return launch_columns<VEC, 1, 8, 2>(cols, p, a, edges, stream);
            return launch_columns<VEC, 1, 8, 1>(cols, p, a, edges, stream);
        }
    }
    if (p.items == 2) return launch_columns<VEC, 2, 4, 1>(cols, p, a, edges, stream);
    if (held == 4) return launch_columns<VEC, 1, 4, 4>(cols, p, a, edges, stream);
    if (held == 2) return launch_columns<VEC, 1, 4, 2>(cols, p, a, edges, stream);
    launch_columns<VEC, 1, 4, 1>(cols, p, a, edges, stream);
}

/// Enqueues the pass, and the sums of split columns of grad_x. `a` has its arrays, `k` and `heads`; the rest is filled
/// in here. Arrays are aligned to 16 bytes. Throws on a launch error.
template <typename T, typename Edges>
void launch_column_pass(const CsrFormat& csc, const BinnedRows& cols, const ColumnPassParams& p, ColumnPass<T> a,
                        const Edges& edges, cudaStream_t stream) {
    if (cols.blocks == 0) return;
    a.cols = view_of(cols, csc);
    a.row_idx = csc.col_idx;
    a.m = csc.m;
    a.lanes = p.lanes;
    a.head_lanes = p.head_lanes(a.k);
    a.ids_aligned = aligned_to_four(csc.col_idx);
    switch (p.vec) {
        case 8:
            if constexpr (sizeof(T) == 2) launch_column_vectors<8>(cols, p, a, edges, stream);
            break;
        case 4:
            launch_column_vectors<4>(cols, p, a, edges, stream);
            break;
        case 2:
            launch_column_vectors<2>(cols, p, a, edges, stream);
            break;
        default:
            launch_column_vectors<1>(cols, p, a, edges, stream);
    }
    launch_merge_rows(*cols.pieces, {}, a.partial, a.grad_x, std::int64_t{a.heads} * a.k, stream);
}

}  // namespace gnntune::kernels
