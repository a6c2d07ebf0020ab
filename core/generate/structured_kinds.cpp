// The kinds whose structure is given: grids, disjoint unions of small graphs, and dense tiles.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/common/parallel_for.hpp"
#include "core/generate/degrees.hpp"
#include "core/generate/finish.hpp"
#include "core/generate/kinds.hpp"
#include "core/generate/sizes.hpp"

namespace gnntune::generate {

namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;
using Offset = std::array<int, 3>;  ///< x, y, z

/// Half of the stencil; the other half is its negative.
std::vector<Offset> half_stencil(const Parameters& p, bool plane) {
    const std::int64_t neighbours = p.integer("neighbours");
    std::vector<Offset> half{{1, 0, 0}, {0, 1, 0}};
    if (plane && (neighbours == 4 || neighbours == 6 || neighbours == 8)) {
        if (neighbours >= 6) half.push_back({1, 1, 0});
        if (neighbours == 8) half.push_back({-1, 1, 0});
        return half;
    }
    if (!plane && neighbours == 6) {
        half.push_back({0, 0, 1});
        return half;
    }
    if (!plane && neighbours == 26) {
        half.push_back({1, 1, 0});
        half.push_back({-1, 1, 0});
        for (int y = -1; y <= 1; ++y) {
            for (int x = -1; x <= 1; ++x) half.push_back({x, y, 1});
        }
        return half;
    }
    throw p.error("neighbours is " + std::to_string(neighbours) +
                  (plane ? ", expected 4, 6 or 8 in a plane (nz=1)" : ", expected 6 or 26 in three dimensions (nz>1)"));
}

/// A disjoint union: where each small graph starts, and how many edges it gets.
struct Union {
    std::vector<std::int64_t> first;  ///< [graphs + 1] vertices
    std::vector<std::int64_t> edges;  ///< [graphs] pairs
    std::int64_t size(std::size_t g) const { return first[g + 1] - first[g]; }
    std::size_t graphs() const { return edges.size(); }
};

/// Sizes of at least one vertex, uniform around their mean, exact in sum.
Union union_sizes(const Parameters& p) {
    const std::int64_t n = p.integer("n");
    const std::int64_t graphs = p.integer("graphs");
    if (graphs > n) {
        throw p.error("graphs is " + std::to_string(graphs) + ", expected at most n = " + std::to_string(n));
    }
    const auto spread = static_cast<std::uint64_t>(p.real("size_spread") * 65536);
    Weights weights(static_cast<std::size_t>(graphs));
    Rng rng(p.seed(), Purpose::sizes, 0);
    for (auto& weight : weights) weight = 65536 - spread + rng.below(2 * spread + 1);
    const std::vector<std::int64_t> more = apportion(n - graphs, weights);
    Union u;
    u.edges.resize(weights.size());
    u.first.push_back(0);
    for (const std::int64_t size : more) u.first.push_back(u.first.back() + size + 1);
    return u;
}

/// Makes the pairs of every small graph in parallel, each at its place. `make(g, rng, out)` writes u.edges[g] of them.
template <typename Make>
CsrGraph make_union(const Parameters& p, const Union& u, Make make) {
    std::vector<std::int64_t> place(u.graphs() + 1, 0);
    for (std::size_t g = 0; g < u.graphs(); ++g) place[g + 1] = place[g] + u.edges[g];
    std::vector<Pair> pairs(static_cast<std::size_t>(place.back()));
    parallel_for(static_cast<std::int64_t>(u.graphs()), 16, [&](std::int64_t at) {
        const auto g = static_cast<std::size_t>(at);
        make(g, Rng(p.seed(), Purpose::structure, g), pairs.data() + place[g]);
    });
    const auto n = static_cast<std::int32_t>(p.integer("n"));
    CsrGraph graph = graph_of_pairs(n, pairs, p.boolean("symmetric"), p.seed());
    add_self_loops(graph, self_loops_of(p, n), p.seed());
    return graph;
}

/// Pairs of the whole union: from m, or `by_default` where m is 0. Checked against what it can hold.
std::int64_t union_pairs(const Parameters& p, std::int64_t by_default, std::int64_t least, std::int64_t most) {
    const std::int64_t loops = self_loops_of(p, p.integer("n"));
    const bool symmetric = p.boolean("symmetric");
    const std::int64_t pairs = p.integer("m") > 0 ? edges_for(p, p.integer("m"), loops, symmetric) : by_default;
    const std::int64_t per_pair = symmetric ? 2 : 1;
    require_entries(p, pairs * per_pair + loops);
    if (pairs < least || pairs > most) {
        throw p.error("m asks for " + std::to_string(pairs) + " edges, expected " + std::to_string(least) + " to " +
                      std::to_string(most) + " for these sizes: m from " + std::to_string(least * per_pair + loops) +
                      " to " + std::to_string(most * per_pair + loops));
    }
    return pairs;
}

/// One molecule: a tree that grows along a chain, then rings that mostly close over four or five bonds.
class Molecule {
public:
    Molecule(std::int32_t first, std::int64_t size, std::int64_t max_degree, Rng rng, Pair* out)
        : first_(first),
          size_(static_cast<std::int32_t>(size)),
          max_degree_(static_cast<std::size_t>(max_degree)),
          rng_(rng),
          out_(out),
          bonds_(static_cast<std::size_t>(size)) {}

    void grow_tree() {
        for (std::int32_t v = 1; v < size_; ++v) {
            const std::int32_t reach = std::min(v, 4);
            std::int32_t parent = v - 1 - rng_.below(reach);
            if (full(parent)) parent = v - 1;  // a newcomer has one bond
            bond(parent, v);
        }
    }
    void close_ring() {
        for (int tries = 0; tries < 64 && size_ > 5; ++tries) {
            const std::int32_t v = 5 + rng_.below(size_ - 5);
            const std::int32_t u = v - 4 - rng_.below(2);
            if (!full(u) && !full(v) && !bonded(u, v)) return bond(u, v);
        }
        for (int tries = 0; tries < 256; ++tries) {
            const std::int32_t u = rng_.below(size_);
            const std::int32_t v = rng_.below(size_);
            if (u != v && (tries >= 128 || (!full(u) && !full(v))) && !bonded(u, v)) return bond(u, v);
        }
        for (std::int32_t u = 0; u < size_; ++u) {
            for (std::int32_t v = u + 1; v < size_; ++v) {
                if (!bonded(u, v)) return bond(u, v);
            }
        }
    }

private:
    std::vector<std::int32_t>& bonds_of(std::int32_t v) { return bonds_[static_cast<std::size_t>(v)]; }
    bool full(std::int32_t v) { return bonds_of(v).size() >= max_degree_; }
    bool bonded(std::int32_t u, std::int32_t v) {
        return std::find(bonds_of(u).begin(), bonds_of(u).end(), v) != bonds_of(u).end();
    }
    void bond(std::int32_t u, std::int32_t v) {
        bonds_of(u).push_back(v);
        bonds_of(v).push_back(u);
        *out_++ = {first_ + u, first_ + v};
    }

    std::int32_t first_;
    std::int32_t size_;
    std::size_t max_degree_;
    Rng rng_;
    Pair* out_;
    std::vector<std::vector<std::int32_t>> bonds_;
};

}  // namespace

CsrGraph make_mesh(const Parameters& p) {
    const std::int64_t nx = p.integer("nx");
    const std::int64_t ny = p.integer("ny");
    const std::int64_t nz = p.integer("nz");
    const std::vector<Offset> half = half_stencil(p, nz == 1);
    if (nx > kMaxEdges / ny || nx * ny > (kMaxEdges - 1) / nz) {
        throw unsupported("mesh: nx * ny * nz vertices exceed the 2^31-2 that the int32 formats hold; lower them");
    }
    const auto n = static_cast<std::int32_t>(nx * ny * nz);
    const auto inside = [](std::int64_t a, std::int64_t size) { return a >= 0 && a < size; };
    std::int64_t edges = 0;
    for (const Offset& o : half) edges += (nx - std::abs(o[0])) * (ny - std::abs(o[1])) * (nz - std::abs(o[2]));
    const std::int64_t loops = self_loops_of(p, n);
    require_entries(p, edges * (p.boolean("symmetric") ? 2 : 1) + loops);

    std::vector<Pair> pairs;
    pairs.reserve(static_cast<std::size_t>(edges));
    for (std::int64_t v = 0; v < n; ++v) {
        const std::int64_t x = v % nx;
        const std::int64_t y = v / nx % ny;
        const std::int64_t z = v / nx / ny;
        for (const Offset& o : half) {
            if (!inside(x + o[0], nx) || !inside(y + o[1], ny) || !inside(z + o[2], nz)) continue;
            const std::int64_t w = v + o[0] + nx * (o[1] + ny * o[2]);
            pairs.emplace_back(static_cast<std::int32_t>(v), static_cast<std::int32_t>(w));
        }
    }
    CsrGraph graph = graph_of_pairs(n, pairs, p.boolean("symmetric"), p.seed());
    add_self_loops(graph, loops, p.seed());
    return graph;
}

CsrGraph make_molecules(const Parameters& p) {
    Union u = union_sizes(p);
    // Every small graph is a tree of size - 1 edges; what m leaves over closes rings, by size.
    Weights weights;
    std::vector<std::int64_t> room;
    std::int64_t most_rings = 0;
    for (std::size_t g = 0; g < u.graphs(); ++g) {
        const std::int64_t size = u.size(g);
        room.push_back((size - 1) * (size - 2) / 2);
        weights.push_back(room.back() > 0 ? static_cast<std::uint64_t>(size) : 0);
        most_rings += room.back();
    }
    const std::int64_t n = p.integer("n");
    const std::int64_t trees = n - p.integer("graphs");
    const std::int64_t most = std::min(trees + most_rings, std::max(trees, n * p.integer("max_degree") / 2));
    const std::int64_t rings = union_pairs(p, std::min(trees + n / 10, most), trees, most) - trees;
    std::vector<std::int64_t> shares = apportion(rings, weights);
    settle(shares, room, Rng(p.seed(), Purpose::sizes, 1));
    for (std::size_t g = 0; g < u.graphs(); ++g) u.edges[g] = u.size(g) - 1 + shares[g];

    const std::int64_t max_degree = p.integer("max_degree");
    return make_union(p, u, [&](std::size_t g, Rng rng, Pair* out) {
        Molecule molecule(static_cast<std::int32_t>(u.first[g]), u.size(g), max_degree, rng, out);
        molecule.grow_tree();
        for (std::int64_t ring = 0; ring < shares[g]; ++ring) molecule.close_ring();
    });
}

CsrGraph make_cliques(const Parameters& p) {
    Union u = union_sizes(p);
    Weights weights;
    std::vector<std::int64_t> room;
    std::int64_t most = 0;
    for (std::size_t g = 0; g < u.graphs(); ++g) {
        room.push_back(u.size(g) * (u.size(g) - 1) / 2);
        weights.push_back(static_cast<std::uint64_t>(room.back()));
        most += room.back();
    }
    // All pairs are visited once, to choose among them.
    if (most > std::int64_t{1} << 34) {
        throw p.error("the small graphs are too large to be dense (" + std::to_string(most) +
                      " pairs); raise graphs or take kind sbm");
    }
    const auto by_default = static_cast<std::int64_t>(std::llround(p.real("density") * static_cast<double>(most)));
    u.edges = apportion(union_pairs(p, by_default, 0, most), weights);
    settle(u.edges, room, Rng(p.seed(), Purpose::sizes, 1));
    return make_union(p, u, [&](std::size_t g, Rng rng, Pair* out) {
        // Selection sampling: each pair is taken with probability (still wanted) / (still to come).
        auto wanted = static_cast<std::uint64_t>(u.edges[g]);
        auto left = static_cast<std::uint64_t>(room[g]);
        for (std::int64_t i = u.first[g]; i < u.first[g + 1]; ++i) {
            for (std::int64_t j = i + 1; j < u.first[g + 1] && wanted > 0; ++j, --left) {
                if (rng.below(left) >= wanted) continue;
                *out++ = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
                --wanted;
            }
        }
    });
}

CsrGraph make_tiles(const Parameters& p) {
    const std::int64_t n = p.integer("n");
    const std::int64_t tile = p.integer("tile");
    const std::int64_t per_row = p.integer("per_row");
    const std::int64_t across = (n + tile - 1) / tile;
    if (per_row > across) {
        throw p.error("per_row is " + std::to_string(per_row) + ", expected at most the " + std::to_string(across) +
                      " tiles that n = " + std::to_string(n) + " holds");
    }
    if (per_row * tile > kMaxEdges / n) throw unsupported("tiles: more than 2^31-2 edges; lower per_row, tile or n");
    // The tiles of every row of tiles, ascending; the last row and column of tiles may be cut off by n.
    std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(across));
    CsrGraph graph;
    graph.n_rows = graph.n_cols = static_cast<std::int32_t>(n);
    graph.row_ptr.assign(static_cast<std::size_t>(n) + 1, 0);
    for (std::int64_t t = 0; t < across; ++t) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(across));
        for (std::int64_t i = 0; i < across; ++i) all[static_cast<std::size_t>(i)] = i;
        Rng rng(p.seed(), Purpose::structure, static_cast<std::uint64_t>(t));
        for (std::int64_t i = 0; i < per_row; ++i) {
            const auto other = i + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(across - i)));
            std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(other)]);
        }
        all.resize(static_cast<std::size_t>(per_row));
        std::sort(all.begin(), all.end());
        std::int64_t width = 0;
        for (const std::int64_t place : all) width += std::min(tile, n - place * tile);
        for (std::int64_t row = t * tile; row < std::min(n, (t + 1) * tile); ++row) {
            const auto i = static_cast<std::size_t>(row);
            graph.row_ptr[i + 1] = graph.row_ptr[i] + static_cast<std::int32_t>(width);
        }
        places[static_cast<std::size_t>(t)] = std::move(all);
    }
    graph.col_idx.resize(static_cast<std::size_t>(graph.row_ptr.back()));
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < n; ++row) {
        std::int32_t* out = graph.col_idx.data() + graph.row_ptr[static_cast<std::size_t>(row)];
        for (const std::int64_t place : places[static_cast<std::size_t>(row / tile)]) {
            for (std::int64_t col = place * tile; col < std::min(n, (place + 1) * tile); ++col) {
                *out++ = static_cast<std::int32_t>(col);
            }
        }
    }
    return graph;
}

}  // namespace gnntune::generate
