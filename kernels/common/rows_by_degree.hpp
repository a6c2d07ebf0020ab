// Rows of a CSR graph by class of degree, on the GPU: what the formats of kernels/formats/by_degree hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/common/memory_source.hpp"
#include "core/graph/degree_formats.hpp"
#include "kernels/common/row_pieces.hpp"

namespace gnntune::kernels {

/// Rows of up to 2^kShortClass edges are one class; class c above has those of 2^(c-1) + 1 to 2^c.
inline constexpr int kShortClass = 3;
inline constexpr int kLongestClass = 31;
inline constexpr int kDegreeClasses = kLongestClass - kShortClass + 1;
/// Rows of more edges are kept on the host as well.
inline constexpr std::int32_t kLongRowEdges = 128;

/// Format ids "rows_by_degree" and "columns_by_degree". Thread-safe.
class RowsByDegree {
public:
    /// `begin` counts, for each class from the longest, the rows of longer classes, and at its end all rows.
    /// `long_rows` are those of more than kLongRowEdges edges, in any order. Pieces are taken from the calling thread's
    /// device memory.
    RowsByDegree(DeviceBuffer<std::int32_t> order, std::array<std::int32_t, kDegreeClasses + 1> begin,
                 std::vector<LongRow> long_rows);

    /// [n_rows] device memory; null: row i stands at i.
    const std::int32_t* order() const { return order_.data(); }
    /// Place in the order of the first row of class c, kShortClass <= c <= kLongestClass.
    std::int32_t first_place(int c) const { return begin_[static_cast<std::size_t>(kLongestClass - c)]; }
    /// Place behind the last row of class c.
    std::int32_t last_place(int c) const { return begin_[static_cast<std::size_t>(kLongestClass - c + 1)]; }
    std::size_t bytes() const { return order_.bytes(); }

    /// Rows of more than `piece_edges` >= kLongRowEdges edges, in pieces of at most so many. Made once for each number:
    /// allocates and copies to the device the first time. Never null.
    std::shared_ptr<const RowPieces> pieces(std::int32_t piece_edges) const;

private:
    DeviceBuffer<std::int32_t> order_;
    std::array<std::int32_t, kDegreeClasses + 1> begin_;
    std::vector<LongRow> long_rows_;
    std::shared_ptr<MemorySource> memory_;  // null: plain allocation
    mutable std::mutex mutex_;
    mutable std::map<std::int32_t, std::shared_ptr<const RowPieces>> pieces_;
};

}  // namespace gnntune::kernels
