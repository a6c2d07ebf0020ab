// The table of kinds: names, parameters, defaults and help. What each does is in random_kinds.cpp and
// structured_kinds.cpp.
#include "core/generate/generate.hpp"

namespace gnntune::generate {

namespace {

using List = std::vector<ParameterInfo>;

constexpr double kVertices = 0x7ffffffe;
constexpr double kEntries = 1e12;  // a larger m than kMaxEdges is refused in its own words

ParameterInfo integer(std::string name, std::string value, double minimum, double maximum, std::string help) {
    return {std::move(name), ParameterType::integer, std::move(value), minimum, maximum, std::move(help)};
}

ParameterInfo real(std::string name, std::string value, double minimum, double maximum, std::string help) {
    return {std::move(name), ParameterType::real, std::move(value), minimum, maximum, std::move(help)};
}

ParameterInfo boolean(std::string name, std::string value, std::string help) {
    return {std::move(name), ParameterType::boolean, std::move(value), 0, 0, std::move(help)};
}

ParameterInfo words(std::string name, std::string help) {
    return {std::move(name), ParameterType::text, "", 0, 0, std::move(help)};
}

ParameterInfo entries(std::string value, const std::string& zero = "") {
    return integer(
        "m", std::move(value), 0, kEntries,
        "stored entries, exactly; both directions and self loops count" + (zero.empty() ? "" : "; 0: " + zero));
}

ParameterInfo weighted() {
    return boolean("weighted", "no", "edge weights of both signs in (-1, 1), none of them zero");
}

ParameterInfo symmetric(std::string value) {
    return boolean("symmetric", std::move(value),
                   "store both directions of every edge; no: each edge has one direction");
}

ParameterInfo self_loops() {
    return integer("self_loops", "0", -1, kVertices, "vertices with a self loop, chosen at random; -1: all");
}

ParameterInfo shuffle(std::string value) {
    return boolean("shuffle", std::move(value), "relabel the vertices at random");
}

ParameterInfo duplicates() {
    return boolean("duplicates", "no", "let the same entry occur more than once");
}

List joined(List head, const List& tail) {
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
}

/// Of the kinds that draw entries at random.
List random_options(const std::string& is_symmetric, const std::string& is_shuffled) {
    return {symmetric(is_symmetric), self_loops(), duplicates(), shuffle(is_shuffled), weighted()};
}

/// Of the kinds whose structure is given.
List structured_options() {
    return {symmetric("yes"), self_loops(), weighted()};
}

ParameterInfo n_rows(std::string value) {
    return integer("n_rows", std::move(value), 1, kVertices, "rows (targets)");
}

ParameterInfo vertices(std::string value) {
    return integer("n", std::move(value), 1, kVertices, "vertices");
}

const std::string kQuantileHelp =
    "as quantiles instead of a power law: 'share:degree' pairs such as '0:1 0.5:20 0.99:400 1:9000'";

std::vector<KindInfo> make_kinds() {
    std::vector<KindInfo> kinds;
    kinds.push_back(
        {"uniform", "every entry equally likely (Erdos-Renyi with exactly m entries)",
         joined({n_rows("10000"), integer("n_cols", "0", 0, kVertices, "columns (sources); 0: as many as rows"),
                 entries("100000")},
                random_options("no", "no"))});
    kinds.push_back(
        {"rmat", "recursive matrix (Kronecker): skewed degrees and self-similar blocks",
         joined({integer("scale", "14", 0, 30, "2^scale vertices, unless n is given"),
                 integer("n", "0", 0, kVertices, "vertices, any number; 0: 2^scale"), entries("262144"),
                 real("a", "0.57", 0, 1, "probability of the upper left quadrant"),
                 real("b", "0.19", 0, 1, "probability of the upper right quadrant"),
                 real("c", "0.19", 0, 1, "probability of the lower left quadrant; the rest is lower right")},
                random_options("no", "no"))});
    kinds.push_back(
        {"power_law", "given degrees (Chung-Lu), optionally with communities",
         joined(
             {n_rows("10000"), integer("n_cols", "0", 0, kVertices, "columns (sources); 0: as many as rows"),
              entries("100000"), real("exponent", "2.2", 1.05, 20, "exponent of the degree distribution of the rows"),
              integer("max_degree", "0", 0, kVertices, "largest degree aimed at; 0: mean degree times sqrt(n_rows)"),
              words("quantiles", "degrees of the rows " + kQuantileHelp),
              real("column_exponent", "0", 0, 20, "exponent of the columns' popularity (directed); 0: as the rows"),
              integer("column_max_degree", "0", 0, kVertices, "largest column degree aimed at; 0: as for the rows"),
              words("column_quantiles", "degrees of the columns (directed) " + kQuantileHelp),
              boolean("correlated", "yes", "directed, square: a vertex of high row degree has high column degree"),
              integer("communities", "1", 1, kVertices, "communities of equal size"),
              real("within", "0.8", 0, 1, "share of entries inside a community, where there are several")},
             random_options("yes", "yes"))});
    kinds.push_back({"sbm", "stochastic block model: equal blocks, dense inside, sparse between",
                     joined({vertices("10000"), integer("blocks", "10", 1, kVertices, "blocks of equal size"),
                             real("degree_in", "8", 0, kVertices, "mean degree inside a vertex's own block"),
                             real("degree_out", "2", 0, kVertices, "mean degree into the other blocks"),
                             real("p_in", "0", 0, 1, "probability of an entry inside a block, instead of degree_in"),
                             real("p_out", "0", 0, 1, "probability of an entry between blocks, instead of degree_out"),
                             entries("0", "from the degrees")},
                            random_options("yes", "no"))});
    kinds.push_back({"banded", "entries at random within a band around the diagonal",
                     joined({vertices("10000"), integer("bandwidth", "16", 1, kVertices, "largest |column - row|"),
                             real("fill", "0.5", 0, 1, "share of the band that is stored"), entries("0", "from fill")},
                            random_options("yes", "no"))});
    kinds.push_back({"bipartite",
                     "block of a sampled mini-batch: even rows, popular columns, rectangular",
                     {n_rows("1024"), integer("n_cols", "10000", 1, kVertices, "columns (sources)"),
                      real("fanout", "10", 0, kVertices, "mean entries per row"), entries("0", "from fanout"),
                      real("column_exponent", "2.2", 1.05, 20, "exponent of the columns' popularity"),
                      integer("column_max_degree", "0", 0, kVertices,
                              "largest column degree aimed at; 0: mean degree times sqrt(n_cols)"),
                      duplicates(), shuffle("yes"), weighted()}});
    kinds.push_back(
        {"mesh", "regular grid in two or three dimensions",
         joined({integer("nx", "100", 1, kVertices, "vertices along x, the fastest in the numbering"),
                 integer("ny", "100", 1, kVertices, "vertices along y"),
                 integer("nz", "1", 1, kVertices, "vertices along z; 1: a plane"),
                 integer("neighbours", "4", 4, 26, "plane: 4, 6 (triangles) or 8; three dimensions: 6 (faces) or 26")},
                structured_options())});
    kinds.push_back(
        {"molecules", "disjoint union of small trees with a few rings, as batched molecules",
         joined({vertices("20000"), integer("graphs", "1000", 1, kVertices, "number of small graphs"),
                 entries("0", "trees and one ring per ten vertices"),
                 integer("max_degree", "4", 2, 64, "largest degree, exceeded only where m leaves no other place"),
                 real("size_spread", "0.5", 0, 1, "sizes are uniform within this share above and below their mean")},
                structured_options())});
    kinds.push_back(
        {"cliques", "disjoint union of small dense graphs, as batched ego networks",
         joined({vertices("10000"), integer("graphs", "100", 1, kVertices, "number of small graphs"),
                 real("density", "0.8", 0, 1, "share of the pairs of a small graph that are joined"),
                 entries("0", "from density"),
                 real("size_spread", "0.5", 0, 1, "sizes are uniform within this share above and below their mean")},
                structured_options())});
    kinds.push_back({"tiles",
                     "dense square tiles on a grid, the same number in every row of tiles, at random places",
                     {vertices("4096"), integer("tile", "16", 1, 65536, "rows and columns of a tile"),
                      integer("per_row", "4", 0, kVertices, "tiles in every row of tiles"), weighted()}});
    return kinds;
}

}  // namespace

const std::vector<KindInfo>& generator_kinds() {
    static const std::vector<KindInfo> kinds = make_kinds();
    return kinds;
}

}  // namespace gnntune::generate
