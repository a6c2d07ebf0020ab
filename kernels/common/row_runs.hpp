// Shape and cost of the variants in which a group of lanes walks several consecutive rows as one stretch of edges.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/registry/param_fields.hpp"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// A group of `lanes` threads has a tile of lanes * items * vec features of `rows` consecutive rows, one after the
/// other.
struct RowRuns {
    static constexpr int kThreads = 128;  ///< of a block
    static constexpr int kEdges = 4;      ///< whose gathers are in flight together

    int lanes = 8;  ///< threads per group
    int vec = 4;    ///< elements per load
    int items = 2;  ///< loads per lane and edge
    int rows = 4;   ///< of a group

    /// Rows of a block.
    std::int64_t block_rows() const { return std::int64_t{kThreads / lanes} * rows; }

    bool operator==(const RowRuns&) const = default;
};

/// The fields of params P that are RowRuns.
template <typename P>
const std::vector<ParamField<P>>& row_runs_fields() {
    static const std::vector<ParamField<P>> kFields{
        {"lanes", &P::lanes, {1, 2, 4, 8, 16, 32}},
        {"vec", &P::vec, {1, 2, 4, 8}},
        {"items", &P::items, {1, 2}},
        {"rows", &P::rows, {4, 8}},
    };
    return kFields;
}

/// Adds to the terms of a gather what groups of this shape cost that walk `tiles` feature tiles.
inline void add_row_runs_cost(const Query& q, const RowRuns& shape, double tiles, CostTerms& terms) {
    constexpr double kRun = RowRuns::kEdges;
    const double rows = shape.rows;
    const auto n_rows = static_cast<double>(std::max<std::int64_t>(q.n_rows, 1));
    // The group of the row of most edges has as many rows as any other.
    const double edges = rows * static_cast<double>(q.m) / n_rows;
    for (const DegreeClass& c : row_classes(q)) {
        const double mean = static_cast<double>(c.edges) / static_cast<double>(c.rows);
        terms.longest = std::max(terms.longest, std::ceil((mean + edges * (rows - 1) / rows) / kRun));
    }
    if (q.problem.self_loop) terms.longest += rows;            // each is waited for where its row ends
    if (edges > 0) terms.flops *= (edges + kRun - 1) / edges;  // stretches begin anywhere, runs at multiples of kRun
    terms.threads = std::ceil(n_rows / rows) * shape.lanes * tiles;
}

}  // namespace gnntune::kernels
