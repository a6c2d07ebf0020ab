// Windows of SGT tiles cut into pieces: the work of a warp each, so that a window of any width is the work of many.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/common/host_vector.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/formats/sgt/window_warps.hpp"

namespace gnntune::kernels {

/// TC blocks [begin, end) of a window.
struct BlockRange {
    std::int32_t window;
    std::int32_t begin;
    std::int32_t end;
};

/// Most pieces that for_each_piece() can make: E edges of a window have at most E / 8 TC blocks, and one.
inline std::int64_t most_pieces(const Query& q, int chunk) {
    return 2 * ceil_div(q.n_rows, kWindowRows) + q.m / (std::int64_t{kBlockColumns} * chunk) + 1;
}

/// Calls f(range, index, count) for the `count` pieces of each window in their order. They have at most `chunk` TC
/// blocks and are of like length; a window without edges is one piece without blocks. `window_ptr` [windows + 1] is on
/// the host.
template <typename F>
void for_each_piece(const HostVector<std::int32_t>& window_ptr, int chunk, const F& f) {
    for (std::size_t w = 0; w + 1 < window_ptr.size(); ++w) {
        const std::int32_t begin = window_ptr[w];
        const std::int32_t end = window_ptr[w + 1];
        const std::int32_t count = std::max(1, (end - begin - 1) / chunk + 1);
        const std::int32_t length = (end - begin + count - 1) / count;
        for (std::int32_t i = 0; i < count; ++i) {
            const std::int32_t from = std::min(end, begin + i * length);
            f(BlockRange{static_cast<std::int32_t>(w), from, std::min(end, from + length)}, i, count);
        }
    }
}

/// The same for a format in device memory, whose offsets are read back: synchronises `stream`.
template <typename F>
void for_each_piece(const SgtFormat& g, int chunk, StreamHandle stream, const F& f) {
    const std::size_t offsets = static_cast<std::size_t>(g.n_windows) + 1;
    for_each_piece(to_host(g.window_ptr, offsets, static_cast<cudaStream_t>(stream)), chunk, f);
}

}  // namespace gnntune::kernels
