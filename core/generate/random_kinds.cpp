// The kinds that draw entries at random: each decides how many a row gets and how it draws a column.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/generate/draw.hpp"
#include "core/generate/kinds.hpp"
#include "core/generate/sizes.hpp"

namespace gnntune::generate {

namespace {

std::int32_t size_of(const Parameters& p, const char* name) {
    return static_cast<std::int32_t>(p.integer(name));
}

/// Sizes and options of a kind that has random_options(). `m` as stored, self loops included.
Shape shape_of(const Parameters& p, std::int32_t n_rows, std::int32_t n_cols, std::int64_t m) {
    Shape shape;
    shape.n_rows = n_rows;
    shape.n_cols = n_cols;
    shape.same_vertices = n_rows == n_cols;
    shape.symmetric = p.boolean("symmetric");
    shape.duplicates = p.boolean("duplicates");
    shape.shuffle = p.boolean("shuffle");
    shape.seed = p.seed();
    if (!shape.same_vertices && (shape.symmetric || p.integer("self_loops") != 0)) {
        throw p.error("a graph of " + std::to_string(n_rows) + " rows and " + std::to_string(n_cols) +
                      " columns has no symmetry and no self loops; set symmetric=no and self_loops=0, or n_cols=0");
    }
    const std::int64_t loops = shape.same_vertices ? self_loops_of(p, n_rows) : 0;
    shape.draws = edges_for(p, m, loops, shape.symmetric);
    return shape;
}

CsrGraph finished(const Parameters& p, const Shape& shape, CsrGraph graph) {
    if (shape.same_vertices) add_self_loops(graph, self_loops_of(p, shape.n_rows), shape.seed);
    return graph;
}

std::int32_t columns_of(const Parameters& p) {
    return p.integer("n_cols") == 0 ? size_of(p, "n_rows") : size_of(p, "n_cols");
}

/// Degrees of `n` vertices that may have `others` neighbours, ascending.
Weights degrees_of(const Parameters& p, std::int32_t n, std::int32_t others, double mean, double exponent,
                   std::int64_t max_degree, const std::string& quantiles) {
    if (!quantiles.empty()) return quantile_degrees(n, mean, quantiles);
    if (max_degree == 0) {
        max_degree = static_cast<std::int64_t>(std::ceil(mean * std::sqrt(static_cast<double>(n)))) + 1;
        max_degree = std::min<std::int64_t>(max_degree, others);
    }
    const auto high = static_cast<double>(max_degree);
    if (mean > high) {
        throw p.error("the mean degree " + std::to_string(mean) + " exceeds the largest degree " +
                      std::to_string(max_degree) + "; lower m or raise the largest degree or the sizes");
    }
    // A cut-off at the mean leaves nothing to distribute.
    if (mean > 0.999 * high) return Weights(static_cast<std::size_t>(n), 1);
    return power_law_degrees(n, mean, exponent, high);
}

}  // namespace

CsrGraph make_uniform(const Parameters& p) {
    const Shape shape = shape_of(p, size_of(p, "n_rows"), columns_of(p), p.integer("m"));
    auto shares = picked_shares(shape, [&](Rng& rng) { return rng.below(shape.n_rows); });
    return finished(p, shape, draw_graph(shape, std::move(shares), UniformColumns(shape.n_cols)));
}

CsrGraph make_rmat(const Parameters& p) {
    const double a = p.real("a");
    const double b = p.real("b");
    const double c = p.real("c");
    if (a + b + c > 1 + 1e-9) throw p.error("a + b + c is " + std::to_string(a + b + c) + ", expected at most 1");
    const std::int32_t n = p.integer("n") > 0 ? size_of(p, "n") : std::int32_t{1} << p.integer("scale");
    const Shape shape = shape_of(p, n, n, p.integer("m"));
    const RmatColumns sampler(n, a, b, c);
    auto shares = picked_shares(shape, [&](Rng& rng) { return sampler.draw_row(rng); });
    return finished(p, shape, draw_graph(shape, std::move(shares), sampler));
}

CsrGraph make_power_law(const Parameters& p) {
    const Shape shape = shape_of(p, size_of(p, "n_rows"), columns_of(p), p.integer("m"));
    const auto entries = static_cast<double>(shape.symmetric ? 2 * shape.draws : shape.draws);
    Weights rows = degrees_of(p, shape.n_rows, shape.n_cols, entries / shape.n_rows, p.real("exponent"),
                              p.integer("max_degree"), p.text("quantiles"));
    Weights columns;
    const bool columns_given =
        p.real("column_exponent") > 0 || p.integer("column_max_degree") > 0 || !p.text("column_quantiles").empty();
    if (shape.symmetric && columns_given) {
        throw p.error(
            "columns of a symmetric graph have the degrees of the rows; leave the column parameters out or set "
            "symmetric=no");
    }
    if (p.real("column_exponent") > 0 && p.real("column_exponent") < 1.05) {
        throw p.error("column_exponent is " + p.text("column_exponent") + ", expected 0 or a number of at least 1.05");
    }
    if (!shape.symmetric) {
        const double exponent = p.real("column_exponent") > 0 ? p.real("column_exponent") : p.real("exponent");
        const std::int64_t largest =
            columns_given || shape.n_rows != shape.n_cols ? p.integer("column_max_degree") : p.integer("max_degree");
        columns = degrees_of(p, shape.n_cols, shape.n_rows, entries / shape.n_cols, exponent, largest,
                             columns_given ? p.text("column_quantiles") : p.text("quantiles"));
        // The same permutation on both keeps ranks together.
        const bool correlated = shape.same_vertices && p.boolean("correlated");
        shuffle_items(columns, Rng(shape.seed, correlated ? Purpose::degrees : Purpose::column_degrees, 0));
    }
    shuffle_items(rows, Rng(shape.seed, Purpose::degrees, 0));

    const std::int32_t communities = size_of(p, "communities");
    if (communities > std::min(shape.n_rows, shape.n_cols)) {
        throw p.error("communities is " + std::to_string(communities) +
                      ", expected at most the number of rows and columns");
    }
    const WeightedColumns sampler(shape.n_rows, shape.symmetric ? rows : columns, communities, p.real("within"));
    return finished(p, shape, draw_graph(shape, apportion(shape.draws, rows), sampler));
}

CsrGraph make_sbm(const Parameters& p) {
    const std::int32_t n = size_of(p, "n");
    const std::int32_t blocks = size_of(p, "blocks");
    if (blocks > n)
        throw p.error("blocks is " + std::to_string(blocks) + ", expected at most n = " + std::to_string(n));
    double inside = p.real("degree_in");
    double outside = p.real("degree_out");
    if (p.real("p_in") > 0 || p.real("p_out") > 0) {
        const double block = static_cast<double>(n) / blocks;
        inside = p.real("p_in") * (block - 1);
        outside = p.real("p_out") * (n - block);
    }
    if (blocks == 1) outside = 0;
    std::int64_t m = p.integer("m");
    if (m == 0) {
        const std::int64_t loops = self_loops_of(p, n);
        const double edges = (inside + outside) * n;
        if (edges > 1e18) throw p.error("degree_in and degree_out are too large; lower them");
        m = p.boolean("symmetric") ? 2 * std::llround(edges / 2) + loops : std::llround(edges) + loops;
    }
    const Shape shape = shape_of(p, n, n, m);
    const double within = inside + outside > 0 ? inside / (inside + outside) : 1;
    const WeightedColumns sampler(n, Weights(static_cast<std::size_t>(n), 1), blocks, within);
    auto shares = picked_shares(shape, [&](Rng& rng) { return rng.below(n); });
    return finished(p, shape, draw_graph(shape, std::move(shares), sampler));
}

CsrGraph make_banded(const Parameters& p) {
    const std::int32_t n = size_of(p, "n");
    const BandColumns sampler(n, static_cast<std::int32_t>(std::min<std::int64_t>(p.integer("bandwidth"), n)));
    Shape shape = shape_of(p, n, n, self_loops_of(p, n));
    Weights room(static_cast<std::size_t>(n));
    std::int64_t total = 0;
    for (std::int32_t row = 0; row < n; ++row) {
        const std::int64_t places = candidates(shape, row, sampler.support(row));
        room[static_cast<std::size_t>(row)] = static_cast<std::uint64_t>(places);
        total += places;
    }
    std::int64_t m = p.integer("m");
    if (m == 0) {
        const std::int64_t edges = std::llround(p.real("fill") * static_cast<double>(total));
        m = edges * (shape.symmetric ? 2 : 1) + self_loops_of(p, n);
    }
    shape = shape_of(p, n, n, m);
    return finished(p, shape, draw_graph(shape, apportion(shape.draws, room), sampler));
}

CsrGraph make_bipartite(const Parameters& p) {
    Shape shape;
    shape.n_rows = size_of(p, "n_rows");
    shape.n_cols = size_of(p, "n_cols");
    shape.same_vertices = false;
    shape.duplicates = p.boolean("duplicates");
    shape.shuffle = p.boolean("shuffle");
    shape.seed = p.seed();
    const std::int64_t m = p.integer("m");
    shape.draws = m > 0 ? m : std::llround(p.real("fanout") * shape.n_rows);
    require_entries(p, shape.draws);
    Weights columns = degrees_of(p, shape.n_cols, shape.n_rows, static_cast<double>(shape.draws) / shape.n_cols,
                                 p.real("column_exponent"), p.integer("column_max_degree"), "");
    shuffle_items(columns, Rng(shape.seed, Purpose::column_degrees, 0));
    const WeightedColumns sampler(shape.n_rows, columns, 1, 1);
    return draw_graph(shape, apportion(shape.draws, Weights(static_cast<std::size_t>(shape.n_rows), 1)), sampler);
}

}  // namespace gnntune::generate
