// Graph storage: CSR, COO and CSC as views (borrowed pointers) and as owning host types.
//
// A graph is a sparse matrix A with n_rows targets and n_cols sources: entry (i, j) is the edge j -> i.
// Ids and offsets are int32; m is held as int64 and checked against kMaxEdges where a graph enters the library.
// Duplicate entries are legal and add up; columns inside a row may stand in any order; rows may be empty.
#pragma once

#include <cstdint>
#include <limits>

#include "core/common/host_vector.hpp"

namespace gnntune {

/// Largest number of edges (and of vertices) the int32 formats hold.
inline constexpr std::int64_t kMaxEdges = std::numeric_limits<std::int32_t>::max();

enum class MemorySpace { host, device };

/// Compressed sparse rows, borrowed.
struct CsrView {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;                     ///< number of stored edges, row_ptr[n_rows]
    const std::int32_t* row_ptr = nullptr;  ///< [n_rows + 1], non-decreasing, row_ptr[0] == 0
    const std::int32_t* col_idx = nullptr;  ///< [m], each in [0, n_cols)
    const float* edge_weight = nullptr;     ///< [m] or null (unweighted)
    MemorySpace space = MemorySpace::host;
};

/// Coordinate list, borrowed. Not necessarily sorted.
struct CooView {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    const std::int32_t* row_idx = nullptr;  ///< [m], each in [0, n_rows)
    const std::int32_t* col_idx = nullptr;  ///< [m], each in [0, n_cols)
    const float* edge_weight = nullptr;     ///< [m] or null
    MemorySpace space = MemorySpace::host;
};

/// Compressed sparse columns, borrowed: the CSR arrays of the reversed graph.
struct CscView {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t m = 0;
    const std::int32_t* col_ptr = nullptr;  ///< [n_cols + 1]
    const std::int32_t* row_idx = nullptr;  ///< [m], each in [0, n_rows)
    const float* edge_weight = nullptr;     ///< [m] or null
    MemorySpace space = MemorySpace::host;
};

/// Owning host CSR. `edge_weight` is empty for an unweighted graph.
struct CsrGraph {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    HostVector<std::int32_t> row_ptr;
    HostVector<std::int32_t> col_idx;
    HostVector<float> edge_weight;

    std::int64_t m() const { return static_cast<std::int64_t>(col_idx.size()); }
    bool weighted() const { return !edge_weight.empty(); }
    CsrView view() const {
        return {n_rows,           n_cols,         m(),
                row_ptr.data(),   col_idx.data(), weighted() ? edge_weight.data() : nullptr,
                MemorySpace::host};
    }
};

/// Owning host CSC, with the permutation that leads from its edges back to the edges it was made from.
struct CscGraph {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    HostVector<std::int32_t> col_ptr;
    HostVector<std::int32_t> row_idx;
    HostVector<float> edge_weight;
    HostVector<std::int32_t> edge_id;  ///< [m] edge_id[p] = position of edge p in the source's order

    std::int64_t m() const { return static_cast<std::int64_t>(row_idx.size()); }
    CscView view() const {
        return {n_rows,           n_cols,         m(),
                col_ptr.data(),   row_idx.data(), edge_weight.empty() ? nullptr : edge_weight.data(),
                MemorySpace::host};
    }
};

}  // namespace gnntune
