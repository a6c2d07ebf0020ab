#include <string>

#include "core/common/error.hpp"
#include "core/gpu/cuda_check.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/graph/edge_walk.cuh"
#include "core/graph/fingerprint_gpu.hpp"
#include "core/graph/fingerprint_mix.hpp"

namespace gnntune {

namespace {

using namespace fingerprint_detail;

/// The two running sums. Additions modulo 2^64 commute, so atomics leave the result independent of any order.
struct Sums {
    unsigned long long lo;
    unsigned long long hi;
};

__device__ void add_block_sums(std::uint64_t lo, std::uint64_t hi, Sums* sums) {
    __shared__ std::uint64_t shared[edge_walk::kWarpsPerBlock];
    lo = edge_walk::block_sum(lo, shared);
    hi = edge_walk::block_sum(hi, shared);
    if (threadIdx.x == 0) {
        atomicAdd(&sums->lo, static_cast<unsigned long long>(lo));
        atomicAdd(&sums->hi, static_cast<unsigned long long>(hi));
    }
}

__global__ void __launch_bounds__(edge_walk::kThreadsPerBlock)
    sum_csr_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
                   std::int32_t n_rows, std::int64_t m, Sums* __restrict__ sums) {
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;
    edge_walk::for_each_edge(row_ptr, col_idx, n_rows, 0, m, [&](std::int64_t, std::int32_t row, std::int32_t col) {
        lo += edge_term(row, col, kSeedLo);
        hi += edge_term(row, col, kSeedHi);
    });
    add_block_sums(lo, hi, sums);
}

/// Edge-parallel: thread t takes edges t, t + threads, ...; both arrays stream through once, coalesced.
__global__ void __launch_bounds__(edge_walk::kThreadsPerBlock)
    sum_coo_kernel(const std::int32_t* __restrict__ row_idx, const std::int32_t* __restrict__ col_idx, std::int64_t m,
                   Sums* __restrict__ sums) {
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;
    const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
#pragma unroll 4
    for (std::int64_t e = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; e < m; e += threads) {
        lo += edge_term(row_idx[e], col_idx[e], kSeedLo);
        hi += edge_term(row_idx[e], col_idx[e], kSeedHi);
    }
    add_block_sums(lo, hi, sums);
}

void require_device(MemorySpace space) {
    if (space != MemorySpace::device) {
        throw invalid_argument("fingerprint_gpu expects a graph in device memory; use fingerprint for host memory");
    }
}

int multiprocessors() {
    int device = 0;
    int count = 0;
    GNNTUNE_CUDA(cudaGetDevice(&device));
    GNNTUNE_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}

/// Runs `launch(sums, blocks)` between clearing and reading the sums, and folds the sizes in.
template <typename Launch>
Fingerprint run(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m, cudaStream_t stream, Launch launch) {
    Sums host{0, 0};
    if (m > 0) {
        DeviceBuffer<Sums> sums(1);
        GNNTUNE_CUDA(cudaMemsetAsync(sums.data(), 0, sizeof(Sums), stream));
        launch(sums.data(), static_cast<unsigned>(edge_walk::grid_blocks(m, multiprocessors())));
        GNNTUNE_CUDA(cudaGetLastError());
        GNNTUNE_CUDA(cudaMemcpyAsync(&host, sums.data(), sizeof(Sums), cudaMemcpyDeviceToHost, stream));
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    return {finish(host.hi, n_rows, n_cols, m, kSeedHi), finish(host.lo, n_rows, n_cols, m, kSeedLo)};
}

}  // namespace

Fingerprint fingerprint_gpu(const CsrView& csr, cudaStream_t stream) {
    require_device(csr.space);
    return run(csr.n_rows, csr.n_cols, csr.m, stream, [&](Sums* sums, unsigned blocks) {
        sum_csr_kernel<<<blocks, edge_walk::kThreadsPerBlock, 0, stream>>>(csr.row_ptr, csr.col_idx, csr.n_rows, csr.m,
                                                                           sums);
    });
}

Fingerprint fingerprint_gpu(const CooView& coo, cudaStream_t stream) {
    require_device(coo.space);
    return run(coo.n_rows, coo.n_cols, coo.m, stream, [&](Sums* sums, unsigned blocks) {
        sum_coo_kernel<<<blocks, edge_walk::kThreadsPerBlock, 0, stream>>>(coo.row_idx, coo.col_idx, coo.m, sums);
    });
}

}  // namespace gnntune
