#include "core/graph/convert.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/common/error.hpp"
#include "core/common/team.hpp"
#include "core/graph/counting_sort.hpp"

namespace gnntune {

void require_int32(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m) {
    if (n_rows < 0 || n_cols < 0 || m < 0) {
        throw input_error("graph sizes must not be negative: rows " + std::to_string(n_rows) + ", columns " +
                          std::to_string(n_cols) + ", edges " + std::to_string(m));
    }
    if (m > kMaxEdges || n_rows > kMaxEdges - 1 || n_cols > kMaxEdges - 1) {
        throw unsupported("graph of " + std::to_string(n_rows) + " x " + std::to_string(n_cols) + " with " +
                          std::to_string(m) +
                          " edges is too large for the int32 formats, which hold 2^31-2 rows and columns and 2^31-1 "
                          "edges; docs/scaling.md says how a graph is cut into tiles of rows");
    }
}

CsrGraph coo_to_csr(const CooView& coo, HostVector<std::int32_t>* edge_id) {
    require_int32(coo.n_rows, coo.n_cols, coo.m);
    CsrGraph csr;
    csr.n_rows = coo.n_rows;
    csr.n_cols = coo.n_cols;
    csr.row_ptr.resize(static_cast<std::size_t>(coo.n_rows) + 1);
    csr.col_idx.resize(static_cast<std::size_t>(coo.m));
    if (coo.edge_weight) csr.edge_weight.resize(static_cast<std::size_t>(coo.m));
    if (edge_id) edge_id->resize(static_cast<std::size_t>(coo.m));

    HostVector<std::int64_t> scratch(counting_sort_bytes(coo.n_rows, coo.m) / sizeof(std::int64_t) + 1);
    std::int32_t* col = csr.col_idx.data();
    float* weight = csr.edge_weight.data();
    std::int32_t* id = edge_id ? edge_id->data() : nullptr;
    counting_sort(coo.row_idx, coo.n_rows, coo.m, csr.row_ptr.data(), scratch.data(),
                  [=](std::int32_t p, std::int64_t e) {
                      col[p] = coo.col_idx[e];
                      if (coo.edge_weight) weight[p] = coo.edge_weight[e];
                      if (id) id[p] = static_cast<std::int32_t>(e);
                  });
    return csr;
}

void expand_rows(const CsrView& csr, std::int32_t* rows) {
    team_for_each(csr.n_rows, 4096, std::int64_t{csr.n_rows} + csr.m, [&](std::int64_t i) {
        std::fill(rows + csr.row_ptr[i], rows + csr.row_ptr[i + 1], static_cast<std::int32_t>(i));
    });
}

HostVector<std::int32_t> expand_rows(const CsrView& csr) {
    HostVector<std::int32_t> rows(static_cast<std::size_t>(csr.m));
    expand_rows(csr, rows.data());
    return rows;
}

CscGraph csr_to_csc(const CsrView& csr) {
    const auto rows = expand_rows(csr);
    // The CSC of A is the CSR of A transposed: swap the roles of rows and columns and sort by column.
    const CooView swapped{csr.n_cols, csr.n_rows, csr.m, csr.col_idx, rows.data(), csr.edge_weight, MemorySpace::host};
    CscGraph csc;
    CsrGraph reversed = coo_to_csr(swapped, &csc.edge_id);
    csc.n_rows = csr.n_rows;
    csc.n_cols = csr.n_cols;
    csc.col_ptr = std::move(reversed.row_ptr);
    csc.row_idx = std::move(reversed.col_idx);
    csc.edge_weight = std::move(reversed.edge_weight);
    return csc;
}

CsrGraph reverse(const CsrView& csr) {
    CscGraph csc = csr_to_csc(csr);
    CsrGraph out;
    out.n_rows = csr.n_cols;
    out.n_cols = csr.n_rows;
    out.row_ptr = std::move(csc.col_ptr);
    out.col_idx = std::move(csc.row_idx);
    out.edge_weight = std::move(csc.edge_weight);
    return out;
}

void sort_columns(CsrGraph& graph) {
    HostVector<std::int32_t> order;
    HostVector<std::int32_t> cols;
    HostVector<float> weights;
    for (std::int32_t i = 0; i < graph.n_rows; ++i) {
        const auto begin = graph.col_idx.begin() + graph.row_ptr[i];
        const auto end = graph.col_idx.begin() + graph.row_ptr[i + 1];
        if (std::is_sorted(begin, end)) continue;
        if (!graph.weighted()) {
            std::sort(begin, end);
            continue;
        }
        order.resize(static_cast<std::size_t>(end - begin));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return begin[a] < begin[b]; });
        cols.assign(begin, end);
        const auto weight = graph.edge_weight.begin() + graph.row_ptr[i];
        weights.assign(weight, weight + (end - begin));
        for (std::size_t p = 0; p < order.size(); ++p) {
            begin[static_cast<std::ptrdiff_t>(p)] = cols[static_cast<std::size_t>(order[p])];
            weight[static_cast<std::ptrdiff_t>(p)] = weights[static_cast<std::size_t>(order[p])];
        }
    }
}

void validate(const CsrView& csr) {
    require_int32(csr.n_rows, csr.n_cols, csr.m);
    if (!csr.row_ptr || (csr.m > 0 && !csr.col_idx))
        throw input_error("CSR graph: row_ptr and col_idx must not be null");
    if (csr.row_ptr[0] != 0) {
        throw input_error("CSR graph: row_ptr[0] is " + std::to_string(csr.row_ptr[0]) + ", expected 0");
    }
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        if (csr.row_ptr[i + 1] < csr.row_ptr[i]) {
            throw input_error("CSR graph: row_ptr falls from " + std::to_string(csr.row_ptr[i]) + " to " +
                              std::to_string(csr.row_ptr[i + 1]) + " at row " + std::to_string(i));
        }
    }
    if (csr.row_ptr[csr.n_rows] != csr.m) {
        throw input_error("CSR graph: row_ptr ends at " + std::to_string(csr.row_ptr[csr.n_rows]) + ", expected the " +
                          std::to_string(csr.m) + " edges of col_idx");
    }
    for (std::int64_t e = 0; e < csr.m; ++e) {
        if (csr.col_idx[e] < 0 || csr.col_idx[e] >= csr.n_cols) {
            throw input_error("CSR graph: col_idx[" + std::to_string(e) + "] is " + std::to_string(csr.col_idx[e]) +
                              ", expected 0 to " + std::to_string(csr.n_cols - 1));
        }
    }
}

void validate(const CooView& coo) {
    require_int32(coo.n_rows, coo.n_cols, coo.m);
    if (coo.m > 0 && (!coo.row_idx || !coo.col_idx)) {
        throw input_error("COO graph: row_idx and col_idx must not be null");
    }
    for (std::int64_t e = 0; e < coo.m; ++e) {
        if (coo.row_idx[e] < 0 || coo.row_idx[e] >= coo.n_rows || coo.col_idx[e] < 0 || coo.col_idx[e] >= coo.n_cols) {
            throw input_error("COO graph: edge " + std::to_string(e) + " is (" + std::to_string(coo.row_idx[e]) + ", " +
                              std::to_string(coo.col_idx[e]) + "), expected ids below " + std::to_string(coo.n_rows) +
                              " and " + std::to_string(coo.n_cols));
        }
    }
}

}  // namespace gnntune
