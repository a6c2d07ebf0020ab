// A graph as a dense array on the GPU, and what filling such an array with weights takes.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/common/dense.hpp"

namespace gnntune::formats {

/// How often each edge occurs, as numbers. Format id "dense". Device memory.
struct DenseFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t stride = 0;            ///< elements from row to row: kernels::dense_stride(n_cols)
    const float* values = nullptr;      ///< [n_rows, stride]; zero where there is no edge, and in the padding
    std::int32_t max_multiplicity = 0;  ///< largest of the values
    std::shared_ptr<const void> storage;
};

/// Edges by the cell of the dense array they belong to, so that duplicates of an edge are neighbours, in CSR order.
/// Format id "dense_cells". Device memory.
struct DenseCellsFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    std::int64_t stride = 0;                ///< as in DenseFormat
    const std::uint64_t* cell = nullptr;    ///< [m] row * stride + column, ascending
    const std::int32_t* edge_id = nullptr;  ///< [m] position in the caller's order; never null
    std::shared_ptr<const void> storage;

    std::size_t array_bytes() const {
        return static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(stride) * sizeof(float);
    }
};

inline constexpr const char* kFormatDense = "dense";
inline constexpr const char* kFormatDenseCells = "dense_cells";

}  // namespace gnntune::formats
