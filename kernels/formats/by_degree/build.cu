// Thread r -> key of row r; CUB's radix sort is stable, so rows of a key ascend; thread b -> where key b begins; thread
// i -> the i-th long row's edges.
#include <cub/device/device_radix_sort.cuh>

#include "core/gpu/device_buffer.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/rows_by_degree.hpp"

namespace gnntune {
namespace formats {
namespace {

using namespace kernels;
using Begins = std::array<std::int32_t, kDegreeClasses + 1>;

constexpr int kSortThreads = 256;
constexpr int kKeyBits = 5;
static_assert(kDegreeClasses <= 1 << kKeyBits, "a key fits the bits that are sorted");
constexpr int kFirstLongClass = 8;
static_assert(kLongRowEdges == 1 << (kFirstLongClass - 1), "classes from here on are the long rows, whole");

__global__ void keys_kernel(const std::int32_t* __restrict__ row_ptr, std::int32_t n_rows,
                            std::uint8_t* __restrict__ keys, std::int32_t* __restrict__ rows) {
    const std::int64_t row = std::int64_t{blockIdx.x} * kSortThreads + threadIdx.x;
    if (row >= n_rows) return;
    const std::int32_t degree = row_ptr[row + 1] - row_ptr[row];
    const int degree_class = degree <= 1 << kShortClass ? kShortClass : 32 - __clz(degree - 1);
    keys[row] = static_cast<std::uint8_t>(kLongestClass - degree_class);
    rows[row] = static_cast<std::int32_t>(row);
}

__global__ void begin_kernel(const std::uint8_t* __restrict__ keys, std::int32_t n_rows, std::int32_t* begin) {
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
    begin[threadIdx.x] = low;
}

__global__ void long_rows_kernel(const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ order,
                                 std::int32_t n, LongRow* __restrict__ out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kSortThreads + threadIdx.x;
    if (i < n) out[i] = {order[i], row_ptr[order[i]], row_ptr[order[i] + 1]};
}

std::vector<LongRow> long_rows_of(const CsrFormat& csr, const std::int32_t* order, std::int32_t n,
                                  cudaStream_t stream) {
    std::vector<LongRow> out(static_cast<std::size_t>(n));
    if (n == 0) return out;
    DeviceBuffer<LongRow> there(out.size());
    long_rows_kernel<<<blocks_for(out.size(), kSortThreads), kSortThreads, 0, stream>>>(csr.row_ptr, order, n,
                                                                                        there.data());
    GNNTUNE_CUDA(cudaGetLastError());
    GNNTUNE_CUDA(cudaMemcpyAsync(out.data(), there.data(), there.bytes(), cudaMemcpyDeviceToHost, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    return out;
}

std::shared_ptr<const RowsByDegree> sort_rows(const CsrFormat& csr, cudaStream_t stream) {
    Begins begin{};
    if (csr.n_rows == 0)
        return std::make_shared<RowsByDegree>(DeviceBuffer<std::int32_t>(), begin, std::vector<LongRow>());
    const auto n = static_cast<std::size_t>(csr.n_rows);
    DeviceBuffer<std::int32_t> order(n);
    DeviceBuffer<std::int32_t> rows(n);
    DeviceBuffer<std::uint8_t> keys(n);
    DeviceBuffer<std::uint8_t> sorted_keys(n);
    DeviceBuffer<std::int32_t> begin_there(begin.size());
    keys_kernel<<<blocks_for(n, kSortThreads), kSortThreads, 0, stream>>>(csr.row_ptr, csr.n_rows, keys.data(),
                                                                          rows.data());
    GNNTUNE_CUDA(cudaGetLastError());
    std::size_t scratch_bytes = 0;
    const auto sort = [&](void* scratch) {
        GNNTUNE_CUDA(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys.data(), sorted_keys.data(),
                                                     rows.data(), order.data(), csr.n_rows, 0, kKeyBits, stream));
    };
    sort(nullptr);
    DeviceBuffer<unsigned char> scratch(scratch_bytes);
    sort(scratch.data());
    begin_kernel<<<1, static_cast<unsigned>(begin.size()), 0, stream>>>(sorted_keys.data(), csr.n_rows,
                                                                        begin_there.data());
    GNNTUNE_CUDA(cudaGetLastError());
    GNNTUNE_CUDA(
        cudaMemcpyAsync(begin.data(), begin_there.data(), begin_there.bytes(), cudaMemcpyDeviceToHost, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    auto long_rows = long_rows_of(csr, order.data(), begin[kLongestClass - kFirstLongClass + 1], stream);
    for (std::size_t c = 0; c < kDegreeClasses; ++c) {
        if (begin[c + 1] - begin[c] == csr.n_rows) order = {};
    }
    return std::make_shared<RowsByDegree>(std::move(order), begin, std::move(long_rows));
}

std::shared_ptr<const void> build_rows(Graph& graph, Direction direction, StreamHandle stream, std::size_t* bytes) {
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, direction, stream);
    auto rows = sort_rows(*csr, static_cast<cudaStream_t>(stream));
    *bytes = rows->bytes();
    return rows;
}

std::shared_ptr<const void> build_columns(Graph& graph, Direction direction, StreamHandle stream, std::size_t* bytes) {
    *bytes = 0;  // shared with the rows of the opposite direction, and counted there
    return graph.format(kFormatRowsByDegree, opposite(direction), stream).data;
}

}  // namespace

}  // namespace formats

void register_format_by_degree(Registry& registry) {
    registry.add(FormatBuilder{kFormatRowsByDegree, Backend::cuda, &formats::build_rows, kFormatCsr});
    registry.add(FormatBuilder{kFormatColumnsByDegree, Backend::cuda, &formats::build_columns, kFormatCsc});
}

}  // namespace gnntune
