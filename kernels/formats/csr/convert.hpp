// The conversions between edge lists, CSR and CSC on the GPU, as the format builders and the conversion ops use them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::formats {

/// Where a grouped list goes: device memory, any alignment of 4 bytes.
struct GroupedEdges {
    std::int32_t* ptr = nullptr;      ///< [n_rows + 1]
    std::int32_t* idx = nullptr;      ///< [m]
    std::int32_t* edge_id = nullptr;  ///< [m]
};

/// Bytes of workspace that group_by_row() needs for this list.
std::size_t group_by_row_bytes(const CooFormat& list);

/// Enqueues the stable grouping of `list` by row: offsets, columns and the edges' positions in the caller's order. No
/// allocation, no synchronisation. `workspace` has `workspace_bytes` = group_by_row_bytes(list), aligned to 256 bytes.
void group_by_row(const CooFormat& list, const GroupedEdges& out, void* workspace, std::size_t workspace_bytes,
                  StreamHandle stream);

/// Traffic and launches of group_by_row() on a list of that size.
CostTerms group_by_row_cost(std::int64_t m, std::int64_t n_rows, std::int64_t n_cols);

/// The same for the edges of a CSR graph, which are grouped by column: `out` is a CSR of the reversed graph.
std::size_t group_by_column_bytes(const CsrFormat& csr);
void group_by_column(const CsrFormat& csr, const GroupedEdges& out, void* workspace, std::size_t workspace_bytes,
                     StreamHandle stream);
CostTerms group_by_column_cost(std::int64_t m, std::int64_t n_rows, std::int64_t n_cols);

/// Whether `list` ascends by row. Allocates and synchronises: for preparing only.
bool is_sorted(const CooFormat& list, StreamHandle stream);

/// Enqueues what group_by_row() gives for a list that ascends by row already. Null arrays of `out` are left out.
void copy_sorted(const CooFormat& list, const GroupedEdges& out, StreamHandle stream);

/// Enqueues rows[e] = row of edge e of a CSR graph; [m].
void expand_rows(const CsrFormat& csr, std::int32_t* rows, StreamHandle stream);

/// Enqueues positions[e] = e; [m].
void fill_positions(std::int32_t* positions, std::int64_t m, StreamHandle stream);

}  // namespace gnntune::formats
