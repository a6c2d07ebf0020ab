// A square graph with a self loop more in every row, for routines that have no place for self loops of their own.
#pragma once

#include <cstdint>
#include <memory>

namespace gnntune::formats {

/// Edges grouped by row, the row's self loop behind its edges. Format id "with_loops". Device memory.
struct LoopedFormat {
    std::int32_t n_rows = 0;
    std::int64_t m = 0;                     ///< edges and self loops
    const std::int32_t* row_ptr = nullptr;  ///< [n_rows + 1]
    const std::int32_t* row_idx = nullptr;  ///< [m]
    const std::int32_t* col_idx = nullptr;  ///< [m]
    const std::int32_t* source =
        nullptr;  ///< [m] an edge's place in the caller's order; -1 - i: the self loop of row i
    std::shared_ptr<const void> storage;
};

inline constexpr const char* kFormatWithLoops = "with_loops";

}  // namespace gnntune::formats
