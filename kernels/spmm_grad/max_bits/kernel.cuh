// spmm_grad.max_bits: the gradients of a maximum in two launches. First, of every edge, which elements of its row it won:
//
//   bit f of edge e = argmax[i, f] == e                               i: the edge's row
//
// Then the pass over columns of spmm_grad.binned (kernels/common/column_pass.cuh with SpmmEdges), which reads k bits of
// an edge where that reads k marks of 4 bytes.
//
// Layout   row_ptr [n_rows + 1], edge_id [m] or null: the CSR. argmax [n_rows, k], row-major, aligned to 16 bytes:
//          places in the caller's order. bits [m, stride] bytes in the caller's order, stride = ceil(k / 8): bit f % 8
//          of byte f / 8 is that of element f. Every byte is written, whatever the workspace held. Device memory.
// Work     rows binned by degree (kernels/common/binned_rows.hpp): a team of one or more groups of `lanes` threads has a
//          row; lane -> a byte, so 8 elements; group -> every n-th run of 8 edges. grid.y: tiles of lanes bytes.
// Data     argmax is read once for each group, in 16 bytes where k is a multiple of four, and stays in registers. A
//          lane makes its byte of all 8 edges of a run, and stores those; neighbours store neighbouring bytes.
//          Without edge_id the ids of a run are consecutive: an element's place in it is a subtraction, its bit a shift.
//          With it each id is compared with each element.
// Atomics  none.
#pragma once

#include "kernels/spmm_grad/common/spmm_edges.cuh"
#include "kernels/spmm_grad/max_bits/launch.hpp"

namespace gnntune::spmm_grad_max_bits {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cu alone

inline constexpr int kRun = 8;  ///< edges of a group at once

struct BitsArguments {
    BinnedRowsView rows;
    const std::int32_t* edge_id;
    const std::int32_t* argmax;
    std::uint8_t* bits;
    std::int64_t m;
    std::int32_t k;
    std::uint32_t stride;
    int lanes;
    bool ids_aligned;  ///< edge_id to four

    __device__ __forceinline__ void store(std::int32_t edge, std::int32_t byte, unsigned value) const {
        bits[std::uint64_t{static_cast<std::uint32_t>(edge)} * stride + static_cast<std::uint32_t>(byte)] =
            static_cast<std::uint8_t>(value);
    }
};

/// VECTORS: k is a multiple of four.
template <bool VECTORS>
__global__ void __launch_bounds__(kBitsThreads) bits_kernel(const __grid_constant__ BitsArguments a) {
    const RowTask task = row_task(a.rows);
    const int lane = static_cast<int>(threadIdx.x) & (a.lanes - 1);
    const int lanes_shift = 31 - __clz(a.lanes);
    const int group = (static_cast<int>(threadIdx.x) & (task.team - 1)) >> lanes_shift;
    const auto byte = static_cast<std::int32_t>(blockIdx.y) * a.lanes + lane;
    if (task.row < 0 || byte >= static_cast<std::int32_t>(a.stride)) return;
    const std::int32_t* own = a.argmax + static_cast<std::int64_t>(task.row) * a.k + byte * 8;
    const std::int32_t left = a.k - byte * 8;
    std::int32_t mark[8];
    if constexpr (VECTORS) {
#pragma unroll
        for (int j = 0; j < 8; j += 4) {
            Pack<std::int32_t, 4> pack{{-1, -1, -1, -1}};
            if (j < left) pack = load_pack<4>(own + j);
#pragma unroll
            for (int i = 0; i < 4; ++i) mark[j + i] = pack.v[i];
        }
    } else {
#pragma unroll
        for (int j = 0; j < 8; ++j) mark[j] = j < left ? __ldg(own + j) : -1;
    }
    const TeamWalk<kRun> walk(task.begin, task.end, group, task.team >> lanes_shift, a.m, a.ids_aligned);
    for (std::uint32_t e = walk.start; e < walk.end; e += walk.stride) {
        const EdgeRun<kRun> run = walk.run(e);
        if (a.edge_id) {
            std::int32_t ids[kRun];
            load_run(a.edge_id, run, ids);
#pragma unroll
            for (int u = 0; u < kRun; ++u) {
                unsigned won = 0;
#pragma unroll
                for (int j = 0; j < 8; ++j) won |= (mark[j] == ids[u] ? 1U : 0U) << j;
                if (run.has(u)) a.store(ids[u], byte, won);
            }
        } else {
            unsigned won[2] = {0, 0};  // a byte for each edge
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const unsigned u = static_cast<unsigned>(mark[j]) - run.first;
                const unsigned bit = 1U << ((u & 3U) * 8U + static_cast<unsigned>(j));
                won[0] |= u < 4U ? bit : 0U;
                won[1] |= (u ^ 4U) < 4U ? bit : 0U;
            }
#pragma unroll
            for (int u = 0; u < kRun; ++u) {
                if (run.has(u)) {
                    a.store(static_cast<std::int32_t>(run.first + static_cast<std::uint32_t>(u)), byte,
                            won[u / 4] >> (u % 4 * 8));
                }
            }
        }
    }
}

}  // namespace gnntune::spmm_grad_max_bits
