// Consecutive rows whose edges a group of lanes walks as one stretch.
#pragma once

#include <cstdint>

namespace gnntune::kernels {

/// The rows of a group, of which one is being summed.
struct RowCursor {
    const std::int32_t* row_ptr;
    std::int32_t row;
    std::int32_t last;    ///< behind the group's last row
    std::uint32_t begin;  ///< edges of `row`
    std::uint32_t end;

    __device__ __forceinline__ RowCursor(const std::int32_t* row_ptr, std::int32_t first, std::int32_t last)
        : row_ptr(row_ptr), row(first), last(last), begin(edge(first)), end(edge(first + 1)) {}
    __device__ __forceinline__ std::uint32_t edge(std::int32_t of) const {
        return static_cast<std::uint32_t>(__ldg(row_ptr + of));
    }
    __device__ __forceinline__ void next() {
        ++row;
        begin = end;
        if (row < last) end = edge(row + 1);
    }
};

}  // namespace gnntune::kernels
