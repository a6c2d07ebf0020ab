// The formats every build knows: CSR and COO of a graph in one direction, as variants see them.
//
// Weights do not live in a format: they arrive with each run, in the caller's edge order. `edge_id` leads from a position
// in the format to the position in the caller's order; null means that both orders are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/graph/types.hpp"

namespace gnntune {

/// Edges grouped by row. Format id "csr".
struct CsrFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    const std::int32_t* row_ptr = nullptr;  ///< [n_rows + 1]
    const std::int32_t* col_idx = nullptr;  ///< [m]
    const std::int32_t* edge_id = nullptr;  ///< [m] or null
    std::shared_ptr<const void> storage;    ///< keeps the arrays alive; null for borrowed ones
};

/// Edges as pairs, in any order (format id "coo") or by ascending row (format id "coo_sorted").
struct CooFormat {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    const std::int32_t* row_idx = nullptr;  ///< [m]
    const std::int32_t* col_idx = nullptr;  ///< [m]
    const std::int32_t* edge_id = nullptr;  ///< [m] or null
    std::shared_ptr<const void> storage;
};

inline constexpr const char* kFormatCsr = "csr";
/// Edges grouped by column: the CsrFormat of the opposite direction.
inline constexpr const char* kFormatCsc = "csc";
inline constexpr const char* kFormatCoo = "coo";
inline constexpr const char* kFormatCooSorted = "coo_sorted";

}  // namespace gnntune
