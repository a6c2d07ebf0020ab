// A pass over the rows, or the columns, of a graph that gathers one or two rows of features for each of their edges,
// multiplies them with what the vertex has, and adds each up, weighted with what the products make: the gradients of
// attention are two of these, one with dot products and one without.
//
// Layout   vertices: those of a CSR, or of a CSC; `ends`: where their edges lead. own, sums [vertices, heads, k],
//          gathered [ends, heads, k], of type T (f32, f16 or bf16), row-major, device memory, aligned to 16 bytes.
// Work     Vertices binned by degree (kernels/common/binned_rows.hpp): a team of one or more groups of lanes has a
//          vertex, or a piece of a long one. head_lanes neighbours of a group have a head: every head_lanes-th vector of
//          VEC features, ITEMS of them. Group -> every n-th run of RUN edges. grid.y: heads.
// Data     A lane's part of the own rows stays in registers, widened. Per run it has RUN ITEMS vectors of every gathered
//          operand in flight, and keeps them until they are added up: each gathered element is used twice. Where a run's
//          edges lead is asked for before the own rows are waited for, or the gathers of the run before. Dot products
//          are scattered over the head's lanes: a lane ends with those of HELD edges, makes their weights, and hands
//          them out.
// Shared   kernels/common/head_groups.cuh, for teams of several warps; sums of heads over a block, where those are asked
//          for.
// Needs    HELD = max(1, RUN / head_lanes).
// Atomics  none; the order of summation depends on the params, the degree, the place of the first edge and whether
//          ids are aligned to four only.
//
// Edges, the kernel's template argument, is what an op does with an edge:
//   Element                            T
//   int kGathered                      rows of an edge, 1 or 2; each has a sum
//   int kOwn                           2: product 0 is that of own row 0 with gathered row 0, product 1 that of own row 1
//                                      with the last gathered row. 0: none
//   bool kOwnLate                      complete() reads own row 0, which is asked for before the edges are
//   bool kSquare                       product 2 is that of gathered row 0 with itself
//   bool kOwnSum                       vertices sum up a number, too, and heads sum up those over blocks
//   bool kZeroDrops                    an edge of weight 0 adds nothing, whatever was gathered
//   bool kShortRuns, kLongRuns         which runs are compiled for vectors of 16 bytes
//   Vertex                             what all edges of a vertex and head share
//   Term                               what memory has of an edge and head
//   int kSums                          sums that are stored, the first ones
//   Vertex vertex(pass, unit, place, own)    unit: vertex heads + head. All lanes of a warp call it
//   const int32_t* edge_id             places of edges in the caller's order, or null: the same
//   Term load(id, end, head)           id: the edge's place in the caller's order
//   void ready(Term&, head)            what can be done while the gathers are under way
//   void weigh(term, vertex, head, products, writes, weights, own_sum)
//                                      the weight of each gathered row. If `writes`, this lane stores what the edge
//                                      leaves, and adds to the number that is summed up
//   void complete(pass, unit, place, vertex, own, sums)
//                                      what becomes of the sums of a vertex, or of a piece of it, before they are
//                                      stored, in the group that has them. All lanes of a warp call it
// `place` is inside where there is such a head, of a vertex that has edges.
#pragma once

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/binned_rows.cuh"
#include "kernels/common/edge_runs.cuh"
#include "kernels/common/gather_pass.hpp"
#include "kernels/common/group_reduce.cuh"
#include "kernels/common/head_groups.cuh"
#include "kernels/common/merge_rows.cuh"
#include "kernels/common/prefetch.cuh"
#include "kernels/common/storage.hpp"

namespace gnntune::kernels {

template <typename T>
struct GatherPass {
    BinnedRowsView vertices;
    const std::int32_t* ends;
    const T* own[2];
    const T* gathered[2];
    T* sums[2];
    float* partial[2];  ///< [slots, heads, k] sums of pieces of split rows
    float* block_sums;  ///< [blocks, heads]
    std::int64_t m;
    std::int32_t k;
    std::int32_t heads;
    int lanes;
    int head_lanes;
    bool ids_aligned;  ///< ends to four elements
};

inline constexpr unsigned kWarp = 0xffffffffU;

/// vertex heads + head, for a vertex >= 0.
__device__ __forceinline__ std::int64_t unit_of(std::int32_t vertex, std::int32_t heads, int head) {
    return static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(vertex)} *
                                         static_cast<std::uint32_t>(heads) +
                                     static_cast<std::uint32_t>(head));
}

/// This lane's vectors of the row of `unit`, widened; zeros beyond k, and where there is no such head.
template <int VEC, int ITEMS, typename T>
__device__ __forceinline__ void load_own(const GatherPass<T>& a, const T* features, std::int64_t unit,
                                         const HeadPlace& place, Vec<VEC> (&out)[ITEMS]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int f = place.f + i * a.head_lanes * VEC;
        zero(out[i]);
        if (place.inside && f < a.k) out[i] = widened(load_pack<VEC>(features + unit * a.k + f));
    }
}

/// Asks for this lane's vectors of own row 0.
template <int VEC, int ITEMS, typename T>
__device__ __forceinline__ void prefetch_own(const GatherPass<T>& a, std::int64_t unit, const HeadPlace& place) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const int f = place.f + i * a.head_lanes * VEC;
        if (place.inside && f < a.k) prefetch(a.own[0] + unit * a.k + f);
    }
}

/// <a, b> over the lanes of a head, in each of them. All lanes of the warp call it.
template <int VEC, int ITEMS>
__device__ __forceinline__ float head_dot(const Vec<VEC> (&a)[ITEMS], const Vec<VEC> (&b)[ITEMS], int head_lanes) {
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
        for (int j = 0; j < VEC; ++j) sum = fmaf(a[i].v[j], b[i].v[j], sum);
    }
    for (int offset = 1; offset < head_lanes; offset *= 2) sum += __shfl_xor_sync(kWarp, sum, offset);
    return sum;
}

/// A run of a team's edges, where they lead, and where those stand that end with this lane. Asked for one run ahead: by
/// the time it is looked at, it has come while the gathers of the run before were under way.
template <int RUN, int HELD>
struct RunEnds {
    EdgeRun<RUN> run;
    std::int32_t ends[RUN];
    std::int32_t own_ends[HELD];
    std::int32_t own_ids[HELD];  ///< in the caller's order

    /// The run at `first`, which may be behind the team's last; the lane has HELD of its edges from `mine` on.
    __device__ __forceinline__ RunEnds(const TeamWalk<RUN>& walk, std::uint32_t first, const std::int32_t* list,
                                       const std::int32_t* edge_id, int mine)
        : run(walk.run(first)) {
        if (first >= walk.end) {
            run.mask = 0;
            run.whole = false;
        }
        load_run(list, run, ends);
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            const std::uint32_t edge = first + static_cast<std::uint32_t>(mine + i);
            own_ends[i] = 0;
            own_ids[i] = static_cast<std::int32_t>(edge);
            if (!run.has(mine + i)) continue;
            own_ends[i] = __ldg(list + edge);
            if (edge_id) own_ids[i] = __ldg(edge_id + edge);
        }
    }
};

/// The first of a run's edges that end with a lane, HELD of them; `share` lanes have the same.
template <int HELD>
__device__ __forceinline__ int first_held(int lane, int share) {
    return lane / share * HELD;
}
template <int RUN, int HELD>
__device__ __forceinline__ int lanes_that_share(int head_lanes) {
    return HELD > 1 ? 1 : head_lanes / RUN;
}

/// Edges of a team that this group has, from the run `at` on. HELD edges of a run end with one lane. All lanes of the warp make the same
/// steps: shuffles among some of them only would have to find out each time who is there.
template <int VEC, int ITEMS, int RUN, int HELD, typename Edges, typename T, int OWN>
__device__ __forceinline__ void walk_edges(const GatherPass<T>& a, const Edges& edges, const TeamWalk<RUN>& walk,
                                           RunEnds<RUN, HELD> at, const HeadPlace& place,
                                           const typename Edges::Vertex& vertex, const Vec<VEC> (&own)[OWN][ITEMS],
                                           LaneSums<VEC, Edges::kGathered * ITEMS>& r) {
    constexpr int kGathered = Edges::kGathered;
    constexpr bool kDots = Edges::kOwn > 0;
    constexpr int kProducts = 2 + (Edges::kSquare ? 1 : 0);
    const int step = a.head_lanes * VEC;
    const int share = lanes_that_share<RUN, HELD>(a.head_lanes);
    const int mine = first_held<HELD>(place.lane, share);
    const bool writes = (place.lane & (share - 1)) == 0;
    const auto row_bytes = static_cast<std::uint32_t>(a.heads * a.k) * static_cast<std::uint32_t>(sizeof(T));
    const T* from[kGathered][ITEMS];
    bool inside[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        inside[i] = place.inside && place.f + i * step < a.k;
#pragma unroll
        for (int g = 0; g < kGathered; ++g) {
            from[g][i] = a.gathered[g] + place.head * a.k + place.f + i * step;
            asm volatile("" : "+l"(from[g][i]));  // else it is worked out again for every gather
        }
    }
    for (std::uint32_t e = walk.start; __any_sync(kWarp, e < walk.end);) {
        Pack<T, VEC> value[kGathered][RUN][ITEMS];
        typename Edges::Term terms[HELD];
        bool here[HELD];
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            here[i] = place.inside && at.run.has(mine + i);
            if (here[i]) terms[i] = edges.load(at.own_ids[i], at.own_ends[i], place.head);
        }
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
#pragma unroll
                for (int g = 0; g < kGathered; ++g) {
                    const T* row = row_of(from[g][i], at.ends[u], row_bytes);
                    zero(value[g][u][i]);
                    if (inside[i] && at.run.has(u)) value[g][u][i] = load_pack<VEC>(row);
                }
            }
        }
        e += walk.stride;
        at = RunEnds<RUN, HELD>(walk, e, a.ends, edges.edge_id, mine);
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            if (here[i]) edges.ready(terms[i], place.head);
        }
        float products[kProducts][RUN];
        if constexpr (kDots) {
#pragma unroll
            for (int u = 0; u < RUN; ++u) {
#pragma unroll
                for (int p = 0; p < kProducts; ++p) products[p][u] = 0.0F;
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) {
                    products[0][u] = dot(products[0][u], own[0][i], value[0][u][i]);
                    products[1][u] = dot(products[1][u], own[OWN - 1][i], value[kGathered - 1][u][i]);
                    if constexpr (Edges::kSquare) {
                        products[2][u] = dot(products[2][u], value[0][u][i], value[0][u][i]);
                    }
                }
            }
#pragma unroll
            for (int p = 0; p < kProducts; ++p) scatter_sums(products[p], place.lane, a.head_lanes);
#pragma unroll
            for (int u = 0; u < RUN; ++u) {
#pragma unroll
                for (int i = 0; i < kGathered * ITEMS; ++i) keep_narrow(value[i / ITEMS][u][i % ITEMS]);
            }
        }
        float weights[HELD][kGathered];
#pragma unroll
        for (int i = 0; i < HELD; ++i) {
            float of_edge[kProducts];
#pragma unroll
            for (int p = 0; p < kProducts; ++p) of_edge[p] = kDots ? products[p][i] : 0.0F;
#pragma unroll
            for (int g = 0; g < kGathered; ++g) weights[i][g] = 0.0F;
            if (here[i]) edges.weigh(terms[i], vertex, place.head, of_edge, writes, weights[i], r.own);
        }
#pragma unroll
        for (int u = 0; u < RUN; ++u) {
#pragma unroll
            for (int g = 0; g < kGathered; ++g) {
                float w = weights[u % HELD][g];
                if constexpr (HELD < RUN) w = __shfl_sync(kWarp, w, u / HELD * share, a.head_lanes);
#pragma unroll
                for (int i = 0; i < ITEMS; ++i) {
                    if (!Edges::kZeroDrops || w != 0.0F) fma(r.x[g * ITEMS + i], w, value[g][u][i]);
                }
            }
        }
    }
}

/// Adds the numbers of a block's vertices, head by head: `number` of the lanes that `have` one. All threads of the block
/// call it.
__device__ __forceinline__ void sum_block(float number, bool have, int lanes, int head_lanes, int heads, float* sums) {
    __shared__ float shared[kMaxBinThreads / 32][32];
    if (!have) number = 0.0F;
    for (int offset = 1; offset < 32; offset *= 2) {
        const float other = __shfl_xor_sync(0xffffffffU, number, offset);
        if (offset < head_lanes || offset >= lanes) number += other;
    }
    const int head_shift = 31 - __clz(head_lanes);
    const int heads_at_once = lanes >> head_shift;
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (lane < lanes && (lane & (head_lanes - 1)) == 0) shared[threadIdx.x / 32][lane >> head_shift] = number;
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.x);
    const int head = static_cast<int>(blockIdx.y) * heads_at_once + thread;
    if (thread >= heads_at_once || head >= heads) return;
    float sum = shared[0][thread];
    for (unsigned w = 1; w < blockDim.x / 32; ++w) sum += shared[w][thread];
    sums[static_cast<std::int64_t>(blockIdx.x) * heads + head] = sum;
}

/// Registers of a thread: as few as go without spills that are felt, for warps whose gathers overlap. Other numbers let
/// no more blocks of four warps onto an SM of 65536.
template <int VEC, int ITEMS, int RUN, int HELD, typename T, typename Edges>
constexpr int gather_registers() {
    constexpr int kUnderWay = Edges::kGathered * RUN * ITEMS * VEC * static_cast<int>(sizeof(T)) / 4;
    constexpr int kHeld = (Edges::kOwn + Edges::kGathered) * ITEMS * VEC + 8 * (HELD - 1);
    constexpr int kAll = kUnderWay + kHeld + (Edges::kOwn > 0 ? 48 : 16 + 8 * Edges::kGathered);
    return kAll <= 64 ? 64 : kAll <= 72 ? 72 : kAll <= 80 ? 80 : kAll <= 96 ? 96 : 128;
}

template <int VEC, int ITEMS, int RUN, int HELD, typename T, typename Edges>
__global__ void GNNTUNE_BIN_BOUNDS((gather_registers<VEC, ITEMS, RUN, HELD, T, Edges>()))
    gather_pass_kernel(const __grid_constant__ GatherPass<T> a, const __grid_constant__ Edges edges) {
    extern __shared__ float shared[];  // [warps][lanes][lane_sums_slot()]
    constexpr int kOwn = Edges::kOwn > 0 ? Edges::kOwn : 1;
    const RowTask task = row_task(a.vertices);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    HeadPlace place = head_place(a.lanes, a.head_lanes, VEC, a.heads);
    // Without any edge there is nothing to take out of the sums, whatever the vertex's own rows hold.
    const bool here = task.row >= 0 && place.inside;
    place.inside = here && task.begin < task.end;
    const std::int64_t unit = here ? unit_of(task.row, a.heads, place.head) : 0;
    // Asked for before the vertex's own rows are waited for.
    const TeamWalk<RUN> walk(task.begin, task.end, group, task.team >> lanes_shift, a.m, a.ids_aligned);
    const int mine = first_held<HELD>(place.lane, lanes_that_share<RUN, HELD>(a.head_lanes));
    const RunEnds<RUN, HELD> first(walk, walk.start, a.ends, edges.edge_id, mine);
    if constexpr (Edges::kOwnLate) prefetch_own<VEC, ITEMS>(a, unit, place);
    LaneSums<VEC, Edges::kGathered * ITEMS> r{};
    Vec<VEC> own[kOwn][ITEMS];
    if constexpr (Edges::kOwn > 0) {
#pragma unroll
        for (int o = 0; o < kOwn; ++o) load_own(a, a.own[o], unit, place, own[o]);
    }
    const typename Edges::Vertex vertex = edges.vertex(a, unit, place, own);
    walk_edges<VEC, ITEMS, RUN, HELD>(a, edges, walk, first, place, vertex, own, r);
    merge_groups<Edges::kOwnSum>(r, a.lanes, a.head_lanes, task.team, group, shared);
    edges.complete(a, unit, place, vertex, own, r);
    const bool holds = here && group == 0;
    if (holds) {
        const bool whole = task.slot < 0;
        const std::int64_t out = whole ? unit : unit_of(task.slot, a.heads, place.head);
#pragma unroll
        for (int s = 0; s < Edges::kSums; ++s) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                const int f = place.f + i * a.head_lanes * VEC;
                if (f >= a.k) continue;
                if (whole) {
                    store_streaming(a.sums[s] + out * a.k + f, r.x[s * ITEMS + i]);
                } else {
                    store_sums(a.partial[s] + out * a.k + f, r.x[s * ITEMS + i]);
                }
            }
        }
    }
    if constexpr (Edges::kOwnSum) {
        sum_block(r.own, holds && place.lane == 0, a.lanes, a.head_lanes, a.heads, a.block_sums);
    }
}

/// A pass and what its launch needs besides.
template <typename Edges, typename T>
struct GatherLaunch {
    const BinnedRows& vertices;
    const Problem& problem;
    const GatherPass<T>& pass;
    const Edges& edges;
    cudaStream_t stream;

    template <int VEC, int ITEMS, int RUN, int HELD>
    void shape(const GatherPassParams& p) const {
        const dim3 grid(vertices.blocks, static_cast<unsigned>(p.tiles(problem)));
        const int shared = vertices.has_teams_of_warps() ? p.shared_bytes(problem, Edges::kGathered) : 0;
        gather_pass_kernel<VEC, ITEMS, RUN, HELD>
            <<<grid, static_cast<unsigned>(32 * p.warps_per_block), static_cast<std::size_t>(shared), stream>>>(pass,
                                                                                                                edges);
        GNNTUNE_CUDA(cudaGetLastError());
    }

    /// Params are those of require_gather_shape(), or, where Edges have no short runs, of GatherPassParams::other().
    template <int VEC>
    void vectors(GatherPassParams p) const {
        constexpr bool kWhole = VEC * sizeof(T) == 16;
        if (!Edges::kLongRuns) p.run = 4 / p.items;
        const int held = std::max(1, p.run / pass.head_lanes);
        if constexpr (kWhole && Edges::kLongRuns) {
            if (p.run * p.items == 8) {
                if constexpr (Edges::kGathered == 1) {
                    if (p.items == 4) {
                        if constexpr (!Edges::kShortRuns || sizeof(T) == 4) return shape<VEC, 4, 2, 1>(p);
                    }
                    if constexpr (Edges::kShortRuns) {
                        if (p.items == 2 && held == 2) return shape<VEC, 2, 4, 2>(p);
                    }
                    if (p.items == 2) return shape<VEC, 2, 4, 1>(p);
                }
                if (held == 2) return shape<VEC, 1, 8, 2>(p);
                return shape<VEC, 1, 8, 1>(p);
            }
        }
        if constexpr (kWhole) {
            if constexpr (Edges::kOwn > 0 && Edges::kGathered == 1) {
                if (p.items == 2 && held == 2) return shape<VEC, 2, 2, 2>(p);
            }
            if (held == 2) return shape<VEC, 1, 4, 2>(p);
        }
        if (held == 4) return shape<VEC, 1, 4, 4>(p);
        if constexpr (kWhole && Edges::kShortRuns) {
            if (p.items == 4) return shape<VEC, 4, 1, 1>(p);
        }
        if constexpr (!kWhole || Edges::kShortRuns) {
            if (p.items == 2) return shape<VEC, 2, 2, 1>(p);
            shape<VEC, 1, 4, 1>(p);
        }
    }
};

/// Enqueues the pass, and the sums of split rows. `a` has its arrays; the rest is filled in here. Throws on a launch
/// error.
template <typename Edges, typename T>
void launch_gather_pass(const CsrFormat& graph, const BinnedRows& vertices, const GatherPassParams& p,
                        const Problem& problem, GatherPass<T> a, const Edges& edges, cudaStream_t stream) {
    if (vertices.blocks == 0) return;
    a.vertices = view_of(vertices, graph);
    a.ends = graph.col_idx;
    a.m = graph.m;
    a.k = problem.k;
    a.heads = problem.heads;
    a.lanes = p.lanes(problem);
    a.head_lanes = p.head_lanes(problem);
    a.ids_aligned = aligned_to_four(graph.col_idx);
    const GatherLaunch<Edges, T> launch{vertices, problem, a, edges, stream};
    with_vector<T>(widest_vector(problem), [&](auto vec) { launch.template vectors<vec()>(p); });
    for (int s = 0; s < Edges::kSums; ++s) {
        launch_merge_rows(*vertices.pieces, {}, a.partial[s], a.sums[s], std::int64_t{a.heads} * a.k, stream);
    }
}

}  // namespace gnntune::kernels
