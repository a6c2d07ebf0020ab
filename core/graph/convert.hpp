// Host conversions between COO, CSR and CSC, and validation of what a caller hands in.
// All of them are stable (edges of a row keep their order) and run in O(n + m), the conversions on all OpenMP threads.
#pragma once

#include "core/graph/types.hpp"

namespace gnntune {

/// CSR of a COO list. Edges of a row keep the order of the list. `edge_id`, if not null, receives for every CSR position
/// the position of that edge in the list ([m]).
CsrGraph coo_to_csr(const CooView& coo, HostVector<std::int32_t>* edge_id = nullptr);

/// Row index of every CSR edge, [m].
void expand_rows(const CsrView& csr, std::int32_t* rows);
HostVector<std::int32_t> expand_rows(const CsrView& csr);

/// CSC of a CSR graph, with the permutation `edge_id` from CSC to CSR positions.
CscGraph csr_to_csc(const CsrView& csr);

/// The reversed graph (A transposed) as CSR: edge j -> i becomes i -> j.
CsrGraph reverse(const CsrView& csr);

/// Sorts the columns of each row; weights follow. Stable for duplicates.
void sort_columns(CsrGraph& graph);

/// Throws ErrorKind::input naming the first broken rule: sizes negative or over kMaxEdges, row_ptr not starting at 0, not
/// non-decreasing or not ending at m, an index out of range. Host views only.
void validate(const CsrView& csr);
void validate(const CooView& coo);

/// Throws ErrorKind::unsupported in words if a count of vertices or edges does not fit the int32 formats.
void require_int32(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m);

}  // namespace gnntune
