// Thread r -> key of row r; CUB's radix sort is stable, so rows of a key ascend; thread b -> where key b begins.
#include "kernels/spmm/binned/sort_rows.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>

namespace gnntune::spmm_binned {
namespace {

constexpr int kThreads = 256;
constexpr int kKeyBits = 6;
static_assert(kDegreeClasses <= 1 << kKeyBits, "a key fits the bits that are sorted");

__global__ void keys_kernel(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows, const KeyOfClass key_of,
                            std::uint8_t* __restrict__ keys, std::int32_t* __restrict__ rows) {
    const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (row >= n_rows) return;
    const std::int32_t degree = row_ptr[row + 1] - row_ptr[row];
    keys[row] = key_of.key[degree == 0 ? 0 : 33 - __clz(degree - 1)];
    rows[row] = static_cast<std::int32_t>(row);
}

__global__ void above_kernel(const std::uint8_t* __restrict__ keys, std::int32_t n_rows, std::int32_t* above) {
    std::int32_t low = 0;
    std::int32_t high = n_rows;
    while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        if (keys[middle] < threadIdx.x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    above[threadIdx.x] = low;
}

}  // namespace

SortedRows sort_rows(const CsrFormat& csr, const KeyOfClass& key_of, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const int count = 1 + *std::max_element(key_of.key, key_of.key + kDegreeClasses);
    SortedRows out;
    out.above.assign(static_cast<std::size_t>(count) + 1, 0);
    if (csr.n_rows == 0) return out;
    const auto n = static_cast<std::size_t>(csr.n_rows);
    DeviceBuffer<std::int32_t> sorted_rows(n);
    DeviceBuffer<std::int32_t> rows(n);
    DeviceBuffer<std::uint8_t> keys(n);
    DeviceBuffer<std::uint8_t> sorted_keys(n);
    DeviceBuffer<std::int32_t> above(out.above.size());
    keys_kernel<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        csr.row_ptr, csr.n_rows, key_of, keys.data(), rows.data());
    GNNTUNE_CUDA(cudaGetLastError());
    std::size_t scratch_bytes = 0;
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, scratch_bytes, keys.data(), sorted_keys.data(), rows.data(),
                                                 sorted_rows.data(), csr.n_rows, 0, kKeyBits, stream));
    DeviceBuffer<unsigned char> scratch(scratch_bytes);
    GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(scratch.data(), scratch_bytes, keys.data(), sorted_keys.data(),
                                                 rows.data(), sorted_rows.data(), csr.n_rows, 0, kKeyBits, stream));
    above_kernel<<<1, static_cast<unsigned>(above.size()), 0, stream>>>(sorted_keys.data(), csr.n_rows, above.data());
    GNNTUNE_CUDA(cudaGetLastError());
    GNNTUNE_CUDA(cudaMemcpyAsync(out.above.data(), above.data(), above.bytes(), cudaMemcpyDeviceToHost, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    bool one = false;
    for (std::size_t b = 0; b + 1 < out.above.size(); ++b) one = one || out.above[b + 1] - out.above[b] == csr.n_rows;
    if (!one) out.rows = std::move(sorted_rows);
    return out;
}

}  // namespace gnntune::spmm_binned
