// Thread r -> key of row r; CUB's radix sort is stable, so rows of a key ascend; thread b -> where key b begins.
#include "kernels/common/binned_rows.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>

namespace gnntune::kernels {
namespace {

/// Class of a degree: 0 for 0, c > 0 for 2^(c-2) < degree <= 2^(c-1).
inline constexpr int kDegreeClasses = 33;
inline std::int64_t most_edges(int degree_class) {
    return degree_class == 0 ? 0 : std::int64_t{1} << (degree_class - 1);
}

/// Key of each class, rows of key 0 first; the class of rows without edges has the largest.
struct KeyOfClass {
    std::uint8_t key[kDegreeClasses];
};

struct SortedRows {
    DeviceBuffer<std::int32_t> rows;  ///< [n_rows] by key; empty if one key has all of them: then row i stands at i
    std::vector<std::int32_t> above;  ///< [keys + 1] above[b]: rows of smaller keys than b
};

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

// A stable radix sort on the GPU.
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

constexpr std::int64_t kShortRow = 8;

}  // namespace

BinnedRows bin_rows(const CsrFormat& csr, const BinShape& shape, StreamHandle stream) {
    BinnedRows out;
    // Key 0 has the rows that are cut; then a key for each class, so that the groups of a warp end together. Short rows
    // take a step or two each: they stay in their order, so that neighbours share what they gather.
    KeyOfClass keys{};
    std::vector<int> shifts{0};
    int longest = kDegreeClasses - 1;
    while (most_edges(longest) > shape.piece_edges()) keys.key[longest--] = 0;
    for (int c = longest; c >= 0; --c) {
        const int shift = shape.team_shift(most_edges(c));
        if (shifts.size() == 1 || shifts.back() != shift || most_edges(c + 1) > kShortRow) shifts.push_back(shift);
        keys.key[c] = static_cast<std::uint8_t>(shifts.size() - 1);
    }
    SortedRows rows = sort_rows(csr, keys, stream);
    const auto& above = rows.above;
    if (above[1] > 0) {
        out.pieces = build_row_pieces(csr, stream, static_cast<std::int32_t>(most_edges(longest)), shape.piece_edges());
    }
    out.blocks = static_cast<unsigned>(out.pieces.pieces.size());
    for (std::size_t key = 1; key < shifts.size();) {
        const std::size_t first = key;
        while (key < shifts.size() && shifts[key] == shifts[first]) ++key;
        const std::int32_t count = above[key] - above[first];
        if (count == 0) continue;
        out.bins.push_back({above[first], count, out.blocks, shifts[first]});
        out.blocks += static_cast<unsigned>(ceil_div(count, shape.threads >> shifts[first]));
    }
    out.order = std::move(rows.rows);
    return out;
}

BinnedRowsView view_of(const BinnedRows& rows, const CsrFormat& csr) {
    BinnedRowsView view{};
    view.row_ptr = csr.row_ptr;
    view.order = rows.order.data();
    view.pieces = rows.pieces.pieces.data();
    view.n_pieces = static_cast<unsigned>(rows.pieces.pieces.size());
    view.n_bins = static_cast<int>(rows.bins.size());
    std::copy(rows.bins.begin(), rows.bins.end(), view.bins);
    return view;
}

}  // namespace gnntune::kernels
