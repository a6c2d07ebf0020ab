// Algorithm 1 of TC-GNN, slow and literal, and the comparison of a translation with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/common/host_vector.hpp"
#include "kernels/formats/sgt/translate.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::test {

/// A translation in host memory; tile positions widened.
struct Translation {
    std::vector<std::int32_t> window_ptr{0};
    std::vector<std::int32_t> block_ptr;
    std::vector<std::int32_t> block_cols;
    std::vector<std::int32_t> tile_position;
    std::vector<std::int32_t> edge_id;

    bool operator==(const Translation&) const = default;
};

inline Translation reference_translation(const CsrFormat& csr, const formats::SgtShape& shape) {
    Translation t;
    for (std::int64_t first = 0; first < csr.n_rows; first += shape.block_height) {
        const std::int64_t last = std::min<std::int64_t>(first + shape.block_height, csr.n_rows);
        std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int32_t>>> columns;  // row, position
        for (std::int64_t row = first; row < last; ++row) {
            for (std::int32_t e = csr.row_ptr[row]; e < csr.row_ptr[row + 1]; ++e) {
                columns[csr.col_idx[e]].emplace_back(row - first, e);
            }
        }
        std::int32_t condensed = 0;
        for (const auto& [col, edges] : columns) {
            const std::int32_t slot = condensed++ % shape.block_width;
            if (slot == 0) t.block_ptr.push_back(static_cast<std::int32_t>(t.edge_id.size()));
            t.block_cols.push_back(col);
            for (const auto& [row, position] : edges) {
                t.tile_position.push_back(static_cast<std::int32_t>(row) * shape.block_width + slot);
                t.edge_id.push_back(csr.edge_id ? csr.edge_id[position] : position);
            }
        }
        t.block_cols.resize(t.block_ptr.size() * static_cast<std::size_t>(shape.block_width), -1);
        t.window_ptr.push_back(static_cast<std::int32_t>(t.block_ptr.size()));
    }
    t.block_ptr.push_back(static_cast<std::int32_t>(csr.m));
    return t;
}

inline const std::vector<formats::SgtShape>& translation_shapes() {
    static const std::vector<formats::SgtShape> kShapes{{16, 8}, {16, 16}, {8, 8},   {8, 1},
                                                        {1, 8},  {5, 3},   {32, 32}, {256, 256}};
    return kShapes;
}

/// The result of a translation in host memory as one that can be compared. `positions` are bytes.
inline Translation collect(const formats::SgtShape& shape, std::int64_t m, const HostVector<std::int32_t>& window_ptr,
                           const HostVector<std::int32_t>& block_ptr, const HostVector<std::int32_t>& block_cols,
                           const HostVector<unsigned char>& positions, const HostVector<std::int32_t>& edge_id) {
    Translation t;
    t.window_ptr.assign(window_ptr.begin(), window_ptr.end());
    const std::int32_t blocks = t.window_ptr.back();
    t.block_ptr.assign(block_ptr.begin(), block_ptr.begin() + blocks + 1);
    t.block_cols.assign(block_cols.begin(), block_cols.begin() + std::int64_t{blocks} * shape.block_width);
    for (std::int64_t e = 0; e < m; ++e) {
        const std::size_t size = shape.position_bytes();
        std::uint16_t wide = 0;
        std::memcpy(&wide, positions.data() + static_cast<std::size_t>(e) * size, size);
        t.tile_position.push_back(wide);
    }
    t.edge_id.assign(edge_id.begin(), edge_id.end());
    return t;
}

/// A caller's order that is not that of the rows.
inline HostVector<std::int32_t> reversed_order(std::int64_t m) {
    HostVector<std::int32_t> ids(static_cast<std::size_t>(m));
    for (std::int64_t e = 0; e < m; ++e) ids[static_cast<std::size_t>(e)] = static_cast<std::int32_t>(m - 1 - e);
    return ids;
}

inline CsrFormat format_of(const CsrGraph& g, const std::int32_t* edge_id) {
    return {g.n_rows, g.n_cols, g.m(), g.row_ptr.data(), g.col_idx.data(), edge_id, nullptr};
}

/// Places of a result that overwrite their guard are too small.
template <typename T>
HostVector<T> sized(std::size_t n, T fill) {
    HostVector<T> out(n);
    std::fill(out.begin(), out.end(), fill);
    return out;
}

}  // namespace gnntune::test
