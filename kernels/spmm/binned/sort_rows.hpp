// Rows in bins of like degree, heavy bins first; in a bin rows ascend, so that what neighbours share stays in the
// caches.
#pragma once

#include <cstdint>
#include <vector>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_binned {

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

/// A stable radix sort on the GPU. Synchronises `stream`.
SortedRows sort_rows(const CsrFormat& csr, const KeyOfClass& keys, StreamHandle stream);

}  // namespace gnntune::spmm_binned
