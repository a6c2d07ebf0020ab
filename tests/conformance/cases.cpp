#include "tests/conformance/cases.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string_view>

#include "core/graph/convert.hpp"

namespace gnntune::conformance {
namespace {

using Edge = std::pair<std::int32_t, std::int32_t>;

/// A case whose edges are made when it is asked for: a process that runs one test needs those of one.
struct Recipe {
    GraphCase graph;
    std::vector<Edge> (*edges)();
    bool made = false;
};

Recipe make(std::string name, std::int32_t n_rows, std::int32_t n_cols, std::vector<Edge> (*edges)()) {
    GraphCase c;
    c.name = std::move(name);
    c.edges.n_rows = n_rows;
    c.edges.n_cols = n_cols;
    return {std::move(c), edges};
}

std::vector<Edge> random_edges(std::int32_t n_rows, std::int32_t n_cols, int m, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Edge> edges;
    for (int e = 0; e < m; ++e) {
        edges.emplace_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(n_rows)),
                           static_cast<std::int32_t>(random() % static_cast<unsigned>(n_cols)));
    }
    return edges;
}

std::vector<Edge> sorted_unique(std::vector<Edge> edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

// Degrees fall off as 1/rank: a few rows hold most of the edges.
std::vector<Edge> skewed_edges(std::int32_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Edge> edges;
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t d = 0; d < n / (i + 1); ++d) {
            edges.emplace_back(i, static_cast<std::int32_t>(random() % static_cast<unsigned>(n)));
        }
    }
    return edges;
}

std::vector<Recipe> build() {
    std::vector<Recipe> cases;
    cases.push_back(make("no_vertices", 0, 0, [] { return std::vector<Edge>(); }));
    cases.push_back(make("no_edges", 19, 5, [] { return std::vector<Edge>(); }));
    cases.push_back(make("one_vertex_self_loop", 1, 1, [] { return std::vector<Edge>{{0, 0}}; }));
    cases.push_back(make("directed_three_edges", 3, 3, [] { return std::vector<Edge>{{0, 1}, {0, 2}, {2, 1}}; }));

    cases.push_back(make("random_100", 100, 100, [] { return sorted_unique(random_edges(100, 100, 600, 1)); }));
    cases.push_back(make("duplicates_and_self_loops", 37, 37, [] {
        auto edges = random_edges(37, 37, 120, 2);
        for (std::int32_t i = 0; i < 37; i += 3) edges.emplace_back(i, i);
        edges.insert(edges.end(), edges.begin(), edges.begin() + 40);
        std::sort(edges.begin(), edges.end());
        return edges;
    }));
    cases.push_back(make("mostly_empty_rows", 500, 300, [] {
        std::vector<Edge> edges;
        for (const auto& [row, col] : random_edges(20, 300, 150, 3)) edges.emplace_back(row * 23 + 11, col);
        return sorted_unique(edges);
    }));
    cases.push_back(make("wide_rectangle", 50, 211, [] { return sorted_unique(random_edges(50, 211, 700, 4)); }));
    cases.push_back(make("tall_rectangle", 211, 50, [] { return sorted_unique(random_edges(211, 50, 700, 5)); }));
    cases.push_back(make("dense_67", 67, 67, [] {
        std::vector<Edge> edges;
        for (std::int32_t i = 0; i < 67; ++i) {
            for (std::int32_t j = 0; j < 67; ++j) edges.emplace_back(i, j);
        }
        return edges;
    }));
    cases.push_back(make("skewed_700", 700, 700, [] { return sorted_unique(skewed_edges(700, 6)); }));

    // Columns of a row in no order, and a caller's list in no order at all.
    cases.push_back(make("unsorted_columns", 64, 64, [] {
        auto edges = random_edges(64, 64, 500, 7);
        std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.first < b.first; });
        return edges;
    }));
    cases.push_back(make("shuffled_coo", 150, 90, [] { return random_edges(150, 90, 900, 8); }));
    cases.back().graph.as_coo = true;

    // Dense squares on the diagonal that are no multiples of 32, whose first rows have edges from everywhere: block rows
    // of many dense blocks, of sparse ones, of none. Every seventh edge twice, columns in descending order.
    cases.push_back(make("communities", 330, 300, [] {
        std::vector<Edge> edges = random_edges(330, 300, 300, 11);
        std::int32_t first = 0;
        for (const std::int32_t size : {7, 33, 64, 50}) {
            for (std::int32_t row = first; row < first + size; ++row) {
                const std::int32_t last = row < 7 ? 300 : first + size;
                for (std::int32_t col = last - 1; col >= first; --col) {
                    if ((row * 31 + col * 17) % 5 > 0) edges.emplace_back(row, col);
                    if ((row + col) % 7 == 0) edges.emplace_back(row, col);
                }
            }
            first += size;
        }
        std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.first < b.first; });
        return edges;
    }));
    cases.back().graph.large = true;

    // One row of 200,000 edges, one of 9,000 to every second column, and a few more among short ones. Ten edges to each
    // column keep the features small, so that the suite spends its time on kernels.
    cases.push_back(make("hub_row", 300, 20000, [] {
        std::vector<Edge> edges = random_edges(300, 20000, 900, 9);
        for (std::int32_t j = 0; j < 200000; ++j) edges.emplace_back(137, j % 20000);
        for (std::int32_t j = 0; j < 9000; ++j) edges.emplace_back(200, 2 * j);
        std::sort(edges.begin(), edges.end());
        return edges;
    }));
    cases.back().graph.large = true;
    cases.back().graph.rising = true;

    // A long row in a square graph, for what only square graphs have: self loops and gcn_norm.
    cases.push_back(make("square_hub", 600, 600, [] {
        std::vector<Edge> edges = random_edges(600, 600, 2000, 10);
        for (std::int32_t j = 0; j < 20000; ++j) edges.emplace_back(77, j % 600);
        std::sort(edges.begin(), edges.end());
        return edges;
    }));
    cases.back().graph.large = true;
    return cases;
}

std::vector<Recipe>& recipes() {
    static std::vector<Recipe> recipes = build();
    return recipes;
}

}  // namespace

const std::vector<std::string>& graph_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const Recipe& recipe : recipes()) names.push_back(recipe.graph.name);
        return names;
    }();
    return kNames;
}

const GraphCase& graph_case(const std::string& name) {
    const auto found = std::find_if(recipes().begin(), recipes().end(),
                                    [&](const Recipe& recipe) { return recipe.graph.name == name; });
    if (found == recipes().end()) throw std::invalid_argument("no graph of the suite is named " + name);
    if (!found->made) {
        for (const auto& [row, col] : found->edges()) {
            found->graph.edges.row_idx.push_back(row);
            found->graph.edges.col_idx.push_back(col);
        }
        found->made = true;
    }
    return found->graph;
}

Scope scope() {
    const char* text = std::getenv("GNNTUNE_CONFORMANCE_SHORT");
    if (!text || *text == '\0') return Scope::full;
    return std::string_view(text) == "races" ? Scope::once : Scope::shorter;
}

std::vector<std::int32_t> widths(const GraphCase& graph) {
    if (scope() == Scope::once) return {33, 64};
    if (graph.large) return {1, 16, 33, 130};
    if (scope() == Scope::shorter) return {1, 6, 33, 64};
    return {1, 2, 3, 7, 16, 32, 33, 64, 100, 128, 130, 256, 602};
}

}  // namespace gnntune::conformance
