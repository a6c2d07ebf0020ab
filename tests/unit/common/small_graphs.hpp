// Small graphs for the tests: hand-made ones and a plain random one with duplicates and unsorted columns.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/convert.hpp"
#include "core/graph/types.hpp"

namespace gnntune::test {

using EdgeList = std::vector<std::pair<std::int32_t, std::int32_t>>;  ///< (row, column)

/// Owning host COO; `edge_weight` is empty for an unweighted graph.
struct CooGraph {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    HostVector<std::int32_t> row_idx;
    HostVector<std::int32_t> col_idx;
    HostVector<float> edge_weight;

    std::int64_t m() const { return static_cast<std::int64_t>(col_idx.size()); }
    bool weighted() const { return !edge_weight.empty(); }
    CooView view() const {
        return {n_rows,           n_cols,         m(),
                row_idx.data(),   col_idx.data(), weighted() ? edge_weight.data() : nullptr,
                MemorySpace::host};
    }
};

inline CooGraph coo_of(std::int32_t n_rows, std::int32_t n_cols, const EdgeList& edges) {
    CooGraph coo;
    coo.n_rows = n_rows;
    coo.n_cols = n_cols;
    for (const auto& [row, col] : edges) {
        coo.row_idx.push_back(row);
        coo.col_idx.push_back(col);
    }
    return coo;
}

inline CsrGraph csr_of(std::int32_t n_rows, std::int32_t n_cols, const EdgeList& edges) {
    return coo_to_csr(coo_of(n_rows, n_cols, edges).view());
}

/// m random edges. With skew > 1, ids bunch up towards 0, so that some rows and columns are heavy and many are empty.
inline EdgeList random_edges(std::int32_t n_rows, std::int32_t n_cols, std::int64_t m, int skew, std::uint32_t seed) {
    std::mt19937_64 random(seed);  // its output is fixed by the standard; the distributions are not, so none is used
    const auto pick = [&](std::int32_t n) {
        double u = 1;
        for (int i = 0; i < skew; ++i) u *= static_cast<double>(random() >> 11) * 0x1p-53;
        return static_cast<std::int32_t>(u * n);
    };
    EdgeList edges;
    for (std::int64_t e = 0; e < m; ++e) {
        const std::int32_t row = pick(n_rows);
        edges.emplace_back(row, pick(n_cols));
    }
    return edges;
}

struct NamedGraph {
    std::string name;
    CsrGraph graph;
};

/// Every awkward shape the counting must survive.
inline std::vector<NamedGraph> awkward_graphs() {
    EdgeList hub;
    for (std::int32_t j = 0; j < 5000; ++j) hub.emplace_back(40, j % 700);
    EdgeList sparse_tail{{0, 3}, {90000, 1}, {90001, 69}};
    std::vector<NamedGraph> graphs;
    graphs.push_back({"no rows", csr_of(0, 0, {})});
    graphs.push_back({"no rows, some columns", csr_of(0, 9, {})});
    graphs.push_back({"no edges", csr_of(37, 21, {})});
    graphs.push_back({"one edge", csr_of(1, 1, {{0, 0}})});
    graphs.push_back({"duplicates", csr_of(17, 17, {{16, 3}, {16, 3}, {16, 3}, {0, 16}, {0, 16}, {8, 16}, {7, 16}})});
    graphs.push_back({"random", csr_of(1003, 1003, random_edges(1003, 1003, 20000, 1, 1))});
    graphs.push_back({"wide", csr_of(50, 7001, random_edges(50, 7001, 9000, 1, 2))});
    graphs.push_back({"tall", csr_of(7001, 50, random_edges(7001, 50, 9000, 1, 3))});
    graphs.push_back({"skewed", csr_of(3001, 2999, random_edges(3001, 2999, 60000, 4, 4))});
    graphs.push_back({"one heavy row", csr_of(65, 700, hub)});
    graphs.push_back({"long runs of empty rows", csr_of(100000, 70, sparse_tail)});
    graphs.push_back({"one column", csr_of(300, 1, random_edges(300, 1, 1000, 1, 5))});
    return graphs;
}

}  // namespace gnntune::test
