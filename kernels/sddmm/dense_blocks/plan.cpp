#include "kernels/sddmm/dense_blocks/plan.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/common/host_vector.hpp"
#include "core/gpu/device_buffer.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune::sddmm_dense_blocks {
namespace {

/// Block rows whose blocks are taken column by column: eight neighbours then have 4 x 2 blocks of a dense part, which
/// need 6 x 32 rows of both operands together; eight of one block row would need 9 x 32.
constexpr std::int32_t kBand = 4;

std::vector<BlockPlace> order_blocks(const formats::DenseBlocksFormat& g, cudaStream_t stream) {
    if (g.n_blocks == 0) return {};
    const auto ptr = to_host(g.block_ptr, static_cast<std::size_t>(g.n_block_rows) + 1, stream);
    const auto cols = to_host(g.block_col, static_cast<std::size_t>(g.n_blocks), stream);
    const auto at = [](const HostVector<std::int32_t>& v, std::int32_t i) { return v[static_cast<std::size_t>(i)]; };
    std::vector<BlockPlace> places;
    places.reserve(static_cast<std::size_t>(g.n_blocks));
    for (std::int32_t w = 0; w < g.n_block_rows; w += kBand) {
        const std::int32_t rows = std::min(kBand, g.n_block_rows - w);
        std::array<std::int32_t, kBand> next{};
        for (std::int32_t r = 0; r < rows; ++r) next[static_cast<std::size_t>(r)] = at(ptr, w + r);
        for (const auto end = static_cast<std::size_t>(at(ptr, w + rows)); places.size() < end;) {
            std::int32_t col = std::numeric_limits<std::int32_t>::max();
            for (std::int32_t r = 0; r < rows; ++r) {
                const std::int32_t b = next[static_cast<std::size_t>(r)];
                if (b < at(ptr, w + r + 1)) col = std::min(col, at(cols, b));
            }
            for (std::int32_t r = 0; r < rows; ++r) {
                std::int32_t& b = next[static_cast<std::size_t>(r)];
                if (b == at(ptr, w + r + 1) || at(cols, b) != col) continue;
                places.push_back({b, w + r, col});
                ++b;
            }
        }
    }
    return places;
}

/// Row of each edge outside of blocks. They begin where the row's first piece does, or without one the next row's.
DeviceBuffer<std::int32_t> rest_rows(const formats::DenseBlocksFormat& g, cudaStream_t stream) {
    if (g.n_rest == 0) return {};
    auto first = to_host(g.rest_ptr, static_cast<std::size_t>(g.n_rows) + 1, stream);
    const auto begin = to_host(g.rest_begin, static_cast<std::size_t>(g.n_rest_pieces) + 1, stream);
    for (std::int32_t& i : first) i = begin[static_cast<std::size_t>(i)];
    const DeviceBuffer<std::int32_t> ptr = to_device(first.data(), first.size());
    DeviceBuffer<std::int32_t> rows(static_cast<std::size_t>(g.n_rest));
    CsrFormat rest;
    rest.n_rows = g.n_rows;
    rest.m = g.n_rest;
    rest.row_ptr = ptr.data();
    formats::expand_rows(rest, rows.data(), stream);
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));  // before the offsets are freed
    return rows;
}

}  // namespace

void find_places(Plan& plan, StreamHandle handle) {
    auto* stream = static_cast<cudaStream_t>(handle);
    const std::vector<BlockPlace> places = order_blocks(*plan.blocks, stream);
    plan.places = to_device(places.data(), places.size());
    plan.rest_row = rest_rows(*plan.blocks, stream);
    kernels::with_storage(plan.dtype, [&]<typename T>(std::type_identity<T>) { prepare_typed<T>(plan); });
}

}  // namespace gnntune::sddmm_dense_blocks
