#include "core/gpu/device_buffer.hpp"
#include "kernels/formats/coo/derive.hpp"

namespace gnntune {
namespace {

constexpr int kThreads = 256;

// One edge per thread; its row is the last one that starts at or before it (binary search in row_ptr, which is small
// enough to stay in L2). Equal work per thread, however skewed the degrees.
__global__ void expand_rows_kernel(const std::int32_t* row_ptr, std::int32_t n_rows, std::int64_t m,
                                   std::int32_t* rows) {
    const std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
    if (e >= m) return;
    std::int32_t low = 0;
    std::int32_t high = n_rows;
    while (high - low > 1) {
        const std::int32_t middle = low + (high - low) / 2;
        if (row_ptr[middle] <= e) {
            low = middle;
        } else {
            high = middle;
        }
    }
    rows[e] = low;
}

std::shared_ptr<const void> expand_on_device(const CsrFormat& csr, StreamHandle stream_handle,
                                             const std::int32_t** rows, std::size_t* bytes) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    auto storage = std::make_shared<DeviceBuffer<std::int32_t>>(static_cast<std::size_t>(csr.m));
    if (csr.m > 0) {
        const auto blocks = static_cast<unsigned>((csr.m + kThreads - 1) / kThreads);
        expand_rows_kernel<<<blocks, kThreads, 0, stream>>>(csr.row_ptr, csr.n_rows, csr.m, storage->data());
        GNNTUNE_CUDA(cudaGetLastError());
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    }
    *rows = storage->data();
    *bytes = storage->bytes();
    return storage;
}

std::shared_ptr<const void> build_any(Graph& g, Direction d, StreamHandle s, std::size_t* bytes) {
    return formats::build_coo(g, d, s, bytes, &expand_on_device);
}
std::shared_ptr<const void> build_sorted(Graph& g, Direction d, StreamHandle s, std::size_t* bytes) {
    return formats::build_coo_sorted(g, d, s, bytes, &expand_on_device);
}

}  // namespace

void register_format_coo_cuda(Registry& registry) {
    registry.add(FormatBuilder{kFormatCoo, Backend::cuda, &build_any});
    registry.add(FormatBuilder{kFormatCooSorted, Backend::cuda, &build_sorted});
}

}  // namespace gnntune
