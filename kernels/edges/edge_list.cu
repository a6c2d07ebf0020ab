// edge_list.hpp on a GPU. Thread -> a place of both rows.
#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/edges/edge_list.hpp"

namespace gnntune::kernels {
namespace {

constexpr int kEdgeThreads = 256;

template <typename Id>
__global__ void edge_list_kernel(const Id* __restrict__ sources, const Id* __restrict__ targets, std::int64_t m,
                                 std::int64_t length, std::int32_t* __restrict__ edges,
                                 volatile std::int32_t* seen_loop) {
    const std::int64_t e = std::int64_t{blockIdx.x} * kEdgeThreads + threadIdx.x;
    int loop = 0;
    if (e < length) {
        Id source = static_cast<Id>(e - m);
        Id target = source;
        if (e < m) {
            source = sources[e];
            target = targets[e];
            loop = source == target ? 1 : 0;
        }
        edges[e] = static_cast<std::int32_t>(source);
        edges[length + e] = static_cast<std::int32_t>(target);
    }
    // It is far away, so once for a block; all who write, write the same.
    if (seen_loop && __syncthreads_or(loop) != 0 && threadIdx.x == 0) *seen_loop = 1;
}

template <typename Id>
void launch(const EdgeList& list, std::int32_t* seen_loop, cudaStream_t stream) {
    edge_list_kernel<<<blocks_for(list.length(), kEdgeThreads), kEdgeThreads, 0, stream>>>(
        static_cast<const Id*>(list.sources), static_cast<const Id*>(list.targets), list.m, list.length(), list.edges,
        seen_loop);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

void copy_edge_list_on_gpu(const EdgeList& list, std::int32_t* seen_loop, StreamHandle handle) {
    if (list.length() == 0) return;
    auto* stream = static_cast<cudaStream_t>(handle);
    list.wide ? launch<std::int64_t>(list, seen_loop, stream) : launch<std::int32_t>(list, seen_loop, stream);
}

}  // namespace gnntune::kernels
