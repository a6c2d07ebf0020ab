// Thread b -> the four pairs of columns of TC block b: its edges are read twice, in order.
#include "kernels/spmm/mma/plan.hpp"

#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/formats/sgt/window_pieces.hpp"

namespace gnntune::spmm_mma {
namespace {

constexpr int kThreads = 128;
using kernels::kBlockColumns;
using kernels::kWindowRows;

__global__ void cells_kernel(const std::int32_t* __restrict__ block_ptr, const std::uint8_t* __restrict__ tile_position,
                             std::int32_t n_blocks, BlockCells* __restrict__ cells,
                             std::uint8_t* __restrict__ multiple) {
    const std::int64_t b = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (b >= n_blocks) return;
    std::int32_t e = block_ptr[b];
    const std::int32_t end = block_ptr[b + 1];
    bool again = false;
    for (int t = 0; t < kBlockColumns / 2; ++t) {
        BlockCells pair{0, e};
        // Edges of a block ascend by column, then by row.
        for (; e < end; ++e) {
            const int position = tile_position[e];
            const int column = position % kBlockColumns;
            if (column / 2 != t) break;
            const std::uint32_t bit = 1U << (column % 2 * kWindowRows + position / kBlockColumns);
            again = again || (pair.mask & bit) != 0;
            pair.mask |= bit;
        }
        cells[b * (kBlockColumns / 2) + t] = pair;
    }
    multiple[b] = again ? 1 : 0;
}

}  // namespace

void cut_windows(Plan& plan, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const SgtFormat& g = *plan.sgt;
    plan.cells = DeviceBuffer<BlockCells>(static_cast<std::size_t>(g.n_blocks) * (kBlockColumns / 2));
    HostVector<std::uint8_t> multiple(static_cast<std::size_t>(g.n_blocks));
    if (g.n_blocks > 0) {
        DeviceBuffer<std::uint8_t> flags(multiple.size());
        cells_kernel<<<static_cast<unsigned>(kernels::ceil_div(g.n_blocks, kThreads)), kThreads, 0, stream>>>(
            g.block_ptr, g.tile_position, g.n_blocks, plan.cells.data(), flags.data());
        GNNTUNE_CUDA(cudaGetLastError());
        GNNTUNE_CUDA(cudaMemcpyAsync(multiple.data(), flags.data(), flags.bytes(), cudaMemcpyDeviceToHost, stream));
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    std::vector<WindowPiece> pieces;
    std::vector<kernels::SplitRow> split;
    std::int32_t slots = 0;
    kernels::for_each_piece(g, plan.params.chunk, stream, [&](const kernels::BlockRange& range, int index, int count) {
        const std::int32_t w = range.window;
        const bool several =
            std::any_of(multiple.begin() + range.begin, multiple.begin() + range.end, [](auto m) { return m != 0; });
        pieces.push_back({w, range.begin, range.end, count > 1 ? slots : -1, count, index, several ? 1 : 0});
        if (count == 1 || index + 1 < count) return;
        for (std::int32_t row = w * kWindowRows; row < std::min(g.n_rows, (w + 1) * kWindowRows); ++row) {
            split.push_back({row, slots + (row - w * kWindowRows) * count, count});
        }
        slots += kWindowRows * count;
        plan.split.most_pieces = std::max(plan.split.most_pieces, count);
    });
    // Long pieces first, so that nobody waits for them; the others in their order, which shares rows of x.
    std::stable_partition(pieces.begin(), pieces.end(),
                          [&](const WindowPiece& p) { return 2 * (p.end - p.begin) > plan.params.chunk; });
    plan.pieces = to_device(pieces.data(), pieces.size());
    plan.split.split = to_device(split.data(), split.size());
    plan.split.slots = slots;
}

}  // namespace gnntune::spmm_mma
