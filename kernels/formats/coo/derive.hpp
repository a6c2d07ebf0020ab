// What the CPU and the CUDA builder share: where a COO list comes from.
//
//   coo(forward)         of a CSR graph: its rows written out
//   coo(reversed)        of any graph: coo(forward) with rows and columns swapped, no copy
//   coo_sorted(dir)      the rows of csr(dir) written out
#pragma once

#include "core/registry/graph.hpp"

namespace gnntune::formats {

/// Row index of every edge of `csr`, in the backend's memory; `bytes` receives its size.
using ExpandRows = std::shared_ptr<const void> (*)(const Graph& graph, const CsrFormat& csr, StreamHandle stream,
                                                   const std::int32_t** rows, std::size_t* bytes);

/// COO list with the rows of `csr` written out.
inline std::shared_ptr<const CooFormat> expand(const Graph& graph, const std::shared_ptr<const CsrFormat>& csr,
                                               ExpandRows expand_rows, StreamHandle stream, std::size_t* bytes) {
    struct Storage {
        std::shared_ptr<const void> rows;
        std::shared_ptr<const CsrFormat> csr;
    };
    const std::int32_t* rows = nullptr;
    auto storage = std::make_shared<Storage>();
    storage->rows = expand_rows(graph, *csr, stream, &rows, bytes);
    storage->csr = csr;
    return std::make_shared<CooFormat>(
        CooFormat{csr->n_rows, csr->n_cols, csr->m, rows, csr->col_idx, csr->edge_id, storage});
}

inline std::shared_ptr<const void> build_coo(Graph& graph, Direction direction, StreamHandle stream, std::size_t* bytes,
                                             ExpandRows expand_rows) {
    if (direction == Direction::forward) {
        return expand(graph, graph.format_as<CsrFormat>(kFormatCsr, direction, stream), expand_rows, stream, bytes);
    }
    *bytes = 0;
    const auto forward = graph.format_as<CooFormat>(kFormatCoo, Direction::forward, stream);
    return std::make_shared<CooFormat>(CooFormat{forward->n_cols, forward->n_rows, forward->m, forward->col_idx,
                                                 forward->row_idx, forward->edge_id, forward});
}

inline std::shared_ptr<const void> build_coo_sorted(Graph& graph, Direction direction, StreamHandle stream,
                                                    std::size_t* bytes, ExpandRows expand_rows) {
    return expand(graph, graph.format_as<CsrFormat>(kFormatCsr, direction, stream), expand_rows, stream, bytes);
}

}  // namespace gnntune::formats
