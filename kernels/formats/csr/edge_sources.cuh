// Where edges come from that are to be grouped: what buckets.cuh and runs.cuh read them by.
#pragma once

#include <cstdint>

namespace gnntune::formats {

/// A CSR whose edges are grouped by column.
struct ColumnsOfCsr {
    static constexpr bool kFindsRows = true;
    const std::int32_t* row_ptr;
    const std::int32_t* group;  ///< col_idx
    const std::int32_t* other;  ///< not read
    const std::int32_t* edge_id;
    std::int32_t n_rows;
};

/// A list whose edges are grouped by row.
struct RowsOfList {
    static constexpr bool kFindsRows = false;
    const std::int32_t* row_ptr;  ///< not read
    const std::int32_t* group;    ///< row_idx
    const std::int32_t* other;    ///< col_idx
    const std::int32_t* edge_id;
    std::int32_t n_rows;
};

}  // namespace gnntune::formats
