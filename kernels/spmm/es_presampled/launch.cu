#include "kernels/spmm/es_presampled/launch.hpp"

#include <cub/device/device_scan.cuh>

#include "kernels/common/host.hpp"
#include "kernels/spmm/es_presampled/kernel.cuh"

namespace gnntune::spmm_es_presampled {
namespace {

unsigned blocks_for(std::int64_t threads) {
    return static_cast<unsigned>(kernels::ceil_div(threads, kThreads));
}

}  // namespace

Sampled draw(const CsrFormat& g, const Demand& d, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const int ends = g.n_rows + 1;
    Sampled out;
    out.row_ptr = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(ends));
    DeviceBuffer<std::int32_t> count(static_cast<std::size_t>(ends));
    count_samples<<<blocks_for(ends), kThreads, 0, stream>>>(g.row_ptr, g.n_rows, d.rule, d.self_loop, count.data());
    GNNTUNE_CUDA(cudaGetLastError());
    std::size_t bytes = 0;
    GNNTUNE_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, bytes, count.data(), out.row_ptr.data(), ends, stream));
    DeviceBuffer<unsigned char> scratch(bytes);
    GNNTUNE_CUDA(cub::DeviceScan::ExclusiveSum(scratch.data(), bytes, count.data(), out.row_ptr.data(), ends, stream));
    std::int32_t m = 0;
    GNNTUNE_CUDA(cudaMemcpyAsync(&m, out.row_ptr.data() + g.n_rows, sizeof m, cudaMemcpyDeviceToHost, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));

    const auto size = static_cast<std::size_t>(m);
    out.col_idx = DeviceBuffer<std::int32_t>(size);
    if (d.source) out.source = DeviceBuffer<std::int32_t>(size);
    if (d.factor) out.factor = DeviceBuffer<float>(size);
    if (m > 0) {
        draw_samples<<<blocks_for(std::int64_t{g.n_rows} * 32), kThreads, 0, stream>>>(
            g.row_ptr, g.col_idx, g.edge_id, g.n_rows, d.rule, d.self_loop, d.mean, out.row_ptr.data(),
            out.col_idx.data(), out.source.data(), out.factor.data());
        GNNTUNE_CUDA(cudaGetLastError());
    }
    // Formats of the sampled graph may be built on other streams.
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    out.view = {g.n_rows, g.n_cols, m, out.row_ptr.data(), out.col_idx.data(), nullptr, MemorySpace::device};
    return out;
}

void gather(const Sampled& s, const float* edge_weight, const float* self_weight, float* weight, StreamHandle stream) {
    if (s.view.m == 0) return;
    gather_weights<<<blocks_for(s.view.m), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        s.source.data(), s.factor.data(), edge_weight, self_weight, s.view.m, weight);
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace gnntune::spmm_es_presampled
