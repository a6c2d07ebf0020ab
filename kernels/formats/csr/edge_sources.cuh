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

/// Edges from `e0` on, `count` of them, as the KEYS of a thread: its u-th is the one at place(u), or none where that is
/// not below `count`. Of none the group is -1. A source that finds rows leaves `other` as it is.
template <int KEYS, typename Source, typename Place>
__device__ __forceinline__ void load_edges(const Source& source, std::int64_t e0, int count, Place place,
                                           std::int32_t (&group)[KEYS], std::int32_t (&other)[KEYS],
                                           std::int32_t (&id)[KEYS]) {
#pragma unroll
    for (int u = 0; u < KEYS; ++u) {
        const bool here = place(u) < count;
        const std::int64_t e = e0 + place(u);
        group[u] = here ? __ldg(source.group + e) : -1;
        id[u] = here && source.edge_id ? __ldg(source.edge_id + e) : static_cast<std::int32_t>(e);
        if constexpr (!Source::kFindsRows) other[u] = here ? __ldg(source.other + e) : 0;
    }
}

}  // namespace gnntune::formats
