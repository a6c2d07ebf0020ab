// Gradients of attention over features in a pass over rows and one over columns, without atomics:
// agnn_grad.rows_cols, attention_grad.rows_cols.
//
// Work     grid.y walks feature tiles of lanes ITEMS VEC elements. The first unit_blocks blocks of grid.x hold teams of
//          groups x lanes threads, team -> a row (column) of up to long_row edges and a head, group -> UNROLL edges;
//          the blocks behind them take a piece of a long one and a head each.
// Shared   block_merge() of kernels/common/attention.cuh, for the pieces.  Atomics: none; sums have a fixed order.
//
// A `Pass` gives the sums. It is passed by value to the kernel, and has
//   Element                                  type of the gradients: f32, f16 or bf16; sums are fp32
//   static constexpr int kOutputs            gradients, each a sum over the edges of a row (column)
//   static constexpr bool kSums              whether a plain sum of each row (column) and head is wanted too
//   static constexpr int unroll(int items)   edges that a group takes at once
//   Element* grad[kOutputs]; float* unit_sum results [vertices, heads, k] and [vertices, heads]
//   template <int VEC, int ITEMS> float run(arguments, team, unit, f0, edges, keeper, acc) const
//                                            the team's part of the gradients in acc [kOutputs][ITEMS], complete in
//                                            every group, and of the plain sum, returned. `keeper` says that this team
//                                            may write what later passes need of the unit = vertex * heads + head.
#pragma once

#include "kernels/common/feature_tile.cuh"
#include "kernels/common/gradient_passes.hpp"
#include "kernels/common/storage.hpp"

namespace gnntune::kernels {

inline constexpr int kPassThreads = 128;

struct PassArguments {
    const std::int32_t* ptr;
    const std::int32_t* idx;
    const RowPiece* pieces;
    PieceResults results;
    std::int64_t output_stride;  ///< floats from the values of one output's pieces to the next's
    std::int32_t vertices;
    std::int32_t heads;
    std::int32_t k;
    std::int32_t long_row;
    unsigned unit_blocks;
};

/// Range of edges that a team walks: begin, begin + 1, ... of every `step` before `end`.
struct PassEdges {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t step;
};

/// Place of this group's edge u of the step that begins at e: vertex at the other end * heads + head, -1 for none.
__device__ __forceinline__ std::int64_t other_end(const PassArguments& a, const Team& t, const PassEdges& edges,
                                                  std::uint32_t e, int u, int head) {
    const std::uint32_t at = e + static_cast<std::uint32_t>(u * t.groups() + t.group);
    return at < edges.end ? static_cast<std::int64_t>(__ldg(a.idx + at)) * a.heads + head : -1;
}
/// The same as the vector there of `features` [vertices, heads, k], null for none.
template <typename T>
__device__ __forceinline__ const T* other_vector(const PassArguments& a, const Team& t, const PassEdges& edges,
                                                 std::uint32_t e, int u, int head, const T* features) {
    const std::uint32_t at = e + static_cast<std::uint32_t>(u * t.groups() + t.group);
    if (at >= edges.end) return nullptr;
    return features + (static_cast<std::int64_t>(__ldg(a.idx + at)) * a.heads + head) * a.k;
}

template <int VEC, int ITEMS, typename Pass>
__global__ void __launch_bounds__(kPassThreads)
    gradient_kernel(const PassArguments a, const Pass pass, int lanes, int split) {
    __shared__ float shared[shared_floats<VEC, ITEMS>(kPassThreads)];
    const Team t(lanes, lanes * split);
    const int step = lanes * VEC;
    const int tile = step * ITEMS;
    const int f0 = static_cast<int>(blockIdx.y) * tile + t.lane * VEC;
    const bool first_tile = blockIdx.y == 0;
    const auto run = static_cast<std::uint32_t>(Pass::unroll(ITEMS) * t.groups());
    Vec<VEC> acc[Pass::kOutputs][ITEMS];
    if (blockIdx.x < a.unit_blocks) {
        const std::int64_t unit = static_cast<std::int64_t>(blockIdx.x) * t.count() + t.index();
        const std::int64_t vertex = unit / a.heads;
        if (vertex >= a.vertices) return;
        const auto begin = static_cast<std::uint32_t>(__ldg(a.ptr + vertex));
        const auto end = static_cast<std::uint32_t>(__ldg(a.ptr + vertex + 1));
        if (end - begin > static_cast<std::uint32_t>(a.long_row)) return;
#pragma unroll
        for (int o = 0; o < Pass::kOutputs; ++o) zero_all(acc[o]);
        float sum = 0.0F;
        // Without any edge the inputs may be null pointers, and nobody asks what a pass leaves of such a unit.
        if (begin < end) sum = pass.run(a, t, unit, f0, PassEdges{begin, end, run}, first_tile, acc);
        if (t.group != 0) return;
#pragma unroll
        for (int o = 0; o < Pass::kOutputs; ++o) {
#pragma unroll
            for (int i = 0; i < ITEMS; ++i) {
                if (f0 + i * step < a.k) store_streaming(pass.grad[o] + unit * a.k + f0 + i * step, acc[o][i]);
            }
        }
        if (Pass::kSums && first_tile && t.lane == 0) pass.unit_sum[unit] = sum;
        return;
    }
    const unsigned block = blockIdx.x - a.unit_blocks;
    const RowPiece piece = a.pieces[block / static_cast<unsigned>(a.heads)];
    const int head = static_cast<int>(block % static_cast<unsigned>(a.heads));
    const std::int64_t unit = static_cast<std::int64_t>(piece.row) * a.heads + head;
    const std::int64_t slot = static_cast<std::int64_t>(piece.slot) * a.heads + head;
    const bool keeper = first_tile && t.index() == 0 && piece.slot == piece.first_slot;
    const float sum =
        pass.run(a, t, unit, f0,
                 PassEdges{static_cast<std::uint32_t>(piece.begin) + run * static_cast<std::uint32_t>(t.index()),
                           static_cast<std::uint32_t>(piece.end), run * static_cast<std::uint32_t>(t.count())},
                 keeper, acc);
    const int left = a.k - static_cast<int>(blockIdx.y) * tile;  // features of the row in this tile and behind it
    const bool whole = piece.slot < 0;
    const std::int64_t out = (whole ? unit : slot) * a.k + (a.k - left);
    SoftmaxSum all = empty_softmax();
#pragma unroll
    for (int o = 0; o < Pass::kOutputs; ++o) {
        // Plain sums: their maximum is 0.
        all = block_merge(t, SoftmaxSum{0.0F, sum}, acc[o], shared, [&](int c, float value, const SoftmaxSum&) {
            if (c >= left) return;
            if (whole) {
                pass.grad[o][out + c] = narrowed<typename Pass::Element>(value);
            } else {
                a.results.values[o * a.output_stride + out + c] = value;
            }
        });
    }
    if (threadIdx.x != 0 || !first_tile) return;
    if (!whole) {
        a.results.sums[slot] = all;
    } else if (Pass::kSums) {
        pass.unit_sum[unit] = all.sum;
    }
}

template <int VEC, int ITEMS, typename Pass>
void launch_pass_shape(const PassPlan& p, PassArguments a, const Pass& pass, cudaStream_t stream) {
    const int lanes = p.team.lanes;
    a.unit_blocks =
        static_cast<unsigned>(ceil_div(std::int64_t{a.vertices} * a.heads, kPassThreads / (lanes * p.team.split)));
    const dim3 grid(a.unit_blocks + static_cast<unsigned>(static_cast<std::int64_t>(p.pieces.pieces.size()) * a.heads),
                    static_cast<unsigned>(ceil_div(p.k, tile_width(lanes, ITEMS, VEC))));
    gradient_kernel<VEC, ITEMS, Pass><<<grid, kPassThreads, 0, stream>>>(a, pass, lanes, p.team.split);
    GNNTUNE_CUDA(cudaGetLastError());
}

/// Enqueues a pass, and the merges of its split rows. Features are read in the widest vectors of at most 16 bytes that
/// the `pointers` of the run allow. A tile is lanes * items vectors, so narrower ones only make for more tiles.
template <typename Pass>
void launch_pass(const PassPlan& p, const Pass& pass, std::initializer_list<const void*> pointers,
                 const PieceResults& results, cudaStream_t stream) {
    using T = typename Pass::Element;
    const CsrFormat& g = *p.graph;
    if (g.n_rows == 0) return;
    const std::int64_t stride = std::int64_t{p.pieces.slots} * p.heads * p.k;
    const PassArguments a{g.row_ptr, g.col_idx, p.pieces.pieces.data(), results, stride, g.n_rows,
                          p.heads,   p.k,       p.pieces.long_row,      0};
    const int width = vector_width(p.k, pointers, static_cast<int>(16 / sizeof(T)), sizeof(T));
    with_vector<T>(width, [&](auto vec) {
        with_tile_items(p.team.items, [&](auto items) { launch_pass_shape<vec(), items()>(p, a, pass, stream); });
    });
    for (int o = 0; o < Pass::kOutputs; ++o) {
        const PieceResults part{results.sums, results.values + o * stride};
        launch_merge_pieces(p.pieces, part, pass.grad[o], o == 0 && Pass::kSums ? pass.unit_sum : nullptr, p.heads, p.k,
                            false, stream);
    }
}

}  // namespace gnntune::kernels
