// SGT on the CPU: each window is sorted and walked by one thread. Edges of a window stay in its own part of every
// array, so only the number of TC blocks passes between windows.
#include <algorithm>
#include <vector>

#include "core/common/parallel_for.hpp"
#include "kernels/formats/sgt/translate.hpp"

namespace gnntune::formats {
namespace {

/// Rows and edges of one window.
struct Window {
    Window(const CsrFormat& csr, const SgtShape& shape, std::int32_t window) {
        const std::int64_t first = std::int64_t{window} * shape.block_height;
        const std::int64_t last = std::min<std::int64_t>(first + shape.block_height, csr.n_rows);
        rows = csr.row_ptr + first;
        rows_end = csr.row_ptr + last;
        begin = *rows;
        end = *rows_end;
    }
    /// Row inside the window that owns the edge at this CSR position.
    std::int32_t row_of(std::int32_t position) const {
        return static_cast<std::int32_t>(std::upper_bound(rows + 1, rows_end + 1, position) - (rows + 1));
    }

    const std::int32_t* rows;
    const std::int32_t* rows_end;
    std::int64_t begin;
    std::int64_t end;
};

// Column above, CSR position below: unique, and the position orders by row.
std::uint64_t key_of(std::int32_t col, std::int64_t position) {
    return static_cast<std::uint64_t>(col) << 32 | static_cast<std::uint64_t>(position);
}
std::int32_t col_of(std::uint64_t key) {
    return static_cast<std::int32_t>(key >> 32);
}
std::int32_t position_of(std::uint64_t key) {
    return static_cast<std::int32_t>(key & 0xffffffffU);
}

template <typename Position>
void fill_window(const CsrFormat& csr, const SgtShape& shape, const SgtArrays& out, const std::uint64_t* keys,
                 std::int32_t window) {
    const Window w(csr, shape, window);
    if (w.begin == w.end) return;
    auto* tile_position = static_cast<Position*>(out.tile_position);
    std::int64_t block = std::int64_t{out.window_ptr[window]} - 1;
    std::int32_t slot = shape.block_width - 1;  // of the current column; the first one opens a block
    std::int32_t col = -1;
    for (std::int64_t p = w.begin; p < w.end; ++p) {
        const std::int32_t position = position_of(keys[p]);
        if (col_of(keys[p]) != col) {
            col = col_of(keys[p]);
            if (++slot == shape.block_width) {
                slot = 0;
                out.block_ptr[++block] = static_cast<std::int32_t>(p);
            }
            out.block_cols[block * shape.block_width + slot] = col;
        }
        tile_position[p] = static_cast<Position>(w.row_of(position) * shape.block_width + slot);
        out.edge_id[p] = csr.edge_id ? csr.edge_id[position] : position;
    }
    while (++slot < shape.block_width) out.block_cols[block * shape.block_width + slot] = -1;
}

}  // namespace

void sgt_count_cpu(const CsrFormat& csr, const SgtShape& shape, std::int32_t* window_ptr, void* scratch) {
    validate(shape);
    auto* keys = static_cast<std::uint64_t*>(scratch);
    const std::int32_t windows = sgt_windows(csr.n_rows, shape);
    window_ptr[0] = 0;
    team_for_each(windows, 16, csr.m, [&](std::int64_t i) {
        const Window w(csr, shape, static_cast<std::int32_t>(i));
        for (std::int64_t p = w.begin; p < w.end; ++p) keys[p] = key_of(csr.col_idx[p], p);
        std::sort(keys + w.begin, keys + w.end);
        std::int64_t distinct = w.begin < w.end ? 1 : 0;
        for (std::int64_t p = w.begin + 1; p < w.end; ++p) distinct += col_of(keys[p]) != col_of(keys[p - 1]);
        window_ptr[i + 1] = static_cast<std::int32_t>((distinct + shape.block_width - 1) / shape.block_width);
    });
    for (std::int32_t i = 0; i < windows; ++i) window_ptr[i + 1] += window_ptr[i];
}

void sgt_fill_cpu(const CsrFormat& csr, const SgtShape& shape, const SgtArrays& out, const void* scratch) {
    const auto* keys = static_cast<const std::uint64_t*>(scratch);
    const std::int32_t windows = sgt_windows(csr.n_rows, shape);
    const auto fill = shape.position_bytes() == 1 ? &fill_window<std::uint8_t> : &fill_window<std::uint16_t>;
    team_for_each(windows, 16, csr.m,
                  [&](std::int64_t i) { fill(csr, shape, out, keys, static_cast<std::int32_t>(i)); });
    out.block_ptr[out.window_ptr[windows]] = static_cast<std::int32_t>(csr.m);
}

}  // namespace gnntune::formats
