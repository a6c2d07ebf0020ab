// What the host side shares of the variants in which a group of lanes walks several consecutive rows as one stretch.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Adds to the terms of a gather what groups of `lanes` threads cost, each with `rows` consecutive rows, that take in
/// runs of `run` edges and walk `tiles` feature tiles.
inline void add_row_runs_cost(const Query& q, int lanes, int rows, int run, double tiles, CostTerms& terms) {
    const auto n_rows = static_cast<double>(std::max<std::int64_t>(q.n_rows, 1));
    // The group of the row of most edges has as many rows as any other.
    const double edges = rows * static_cast<double>(q.m) / n_rows;
    for (const DegreeClass& c : row_classes(q)) {
        const double mean = static_cast<double>(c.edges) / static_cast<double>(c.rows);
        terms.longest = std::max(terms.longest, std::ceil((mean + edges * (rows - 1) / rows) / run));
    }
    if (edges > 0) terms.flops *= (edges + run - 1) / edges;  // stretches begin anywhere, runs at multiples of `run`
    terms.threads = std::ceil(n_rows / rows) * lanes * tiles;
}

}  // namespace gnntune::kernels
