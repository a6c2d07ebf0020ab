#include "kernels/edges/edge_list.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "kernels/common/cpu.hpp"

namespace gnntune::kernels {
namespace {

constexpr std::int64_t kEdgeBlock = 16384;  // edges that a thread takes at a time

/// Whether one of these edges is a self loop, by ids as they were given.
template <typename Id>
bool copy_block(const Id* sources, const Id* targets, std::int32_t* to_sources, std::int32_t* to_targets,
                std::int64_t count) {
    int loops = 0;
#pragma omp simd reduction(| : loops)
    for (std::int64_t e = 0; e < count; ++e) {
        to_sources[e] = static_cast<std::int32_t>(sources[e]);
        to_targets[e] = static_cast<std::int32_t>(targets[e]);
        loops |= sources[e] == targets[e];
    }
    return loops != 0;
}

template <typename Id>
void copy(const EdgeList& list, std::int32_t* seen_loop) {
    const auto* sources = static_cast<const Id*>(list.sources);
    const auto* targets = static_cast<const Id*>(list.targets);
    std::int32_t* const to[2] = {list.edges, list.edges + list.length()};
    std::atomic<bool> seen = false;
    on_team(list.length(), [&](const Team& team) {
        const auto blocks = static_cast<std::int32_t>((list.m + kEdgeBlock - 1) / kEdgeBlock);
        team.for_row_blocks(blocks, 1, [&](std::int32_t block, std::int32_t) {
            const std::int64_t e = block * kEdgeBlock;
            const std::int64_t count = std::min(kEdgeBlock, list.m - e);
            if (copy_block(sources + e, targets + e, to[0] + e, to[1] + e, count)) seen = true;
        });
        team.for_row_blocks(list.loops, kEdgeBlock, [&](std::int32_t first, std::int32_t last) {
            for (std::int32_t* ids : to) std::iota(ids + list.m + first, ids + list.m + last, first);
        });
    });
    if (seen && seen_loop) *seen_loop = 1;
}

}  // namespace

void copy_edge_list(Backend backend, const EdgeList& list, std::int32_t* seen_loop, StreamHandle stream) {
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) return copy_edge_list_on_gpu(list, seen_loop, stream);
#endif
    static_cast<void>(backend);
    static_cast<void>(stream);
    list.wide ? copy<std::int64_t>(list, seen_loop) : copy<std::int32_t>(list, seen_loop);
}

}  // namespace gnntune::kernels
