// Generated graphs: the same everywhere, exactly as large as asked, of the shape asked, and errors in words.
#include "core/generate/generate.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "core/common/error.hpp"
#include "core/features/features.hpp"
#include "core/graph/convert.hpp"
#include "core/graph/fingerprint.hpp"

namespace gnntune::generate {
namespace {

using Params = std::vector<std::pair<std::string, std::string>>;

CsrGraph make(const std::string& kind, const Params& params, std::uint64_t seed = 1) {
    return generate(Recipe{"", kind, params, seed, ""});
}

std::string print_of(const CsrGraph& graph) {
    return fingerprint(graph.view()).text();
}

/// Rows sorted; entries seen once; returns the number of diagonal entries.
std::int64_t check_rows(const CsrGraph& g, bool duplicates) {
    EXPECT_NO_THROW(validate(g.view()));
    std::int64_t diagonal = 0;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        const auto begin = g.col_idx.begin() + g.row_ptr[static_cast<std::size_t>(i)];
        const auto end = g.col_idx.begin() + g.row_ptr[static_cast<std::size_t>(i) + 1];
        EXPECT_TRUE(std::is_sorted(begin, end)) << "row " << i;
        if (!duplicates) {
            EXPECT_EQ(std::adjacent_find(begin, end), end) << "row " << i;
        }
        diagonal += std::count(begin, end, i);
    }
    return diagonal;
}

bool is_symmetric(const CsrGraph& g) {
    return fingerprint(g.view()) == fingerprint(reverse(g.view()).view());
}

TEST(Generate, EveryKindWorksWithItsDefaults) {
    for (const KindInfo& kind : generator_kinds()) {
        SCOPED_TRACE(kind.name);
        const CsrGraph graph = make(kind.name, {});
        EXPECT_GT(graph.m(), 0);
        EXPECT_FALSE(graph.weighted());
        check_rows(graph, false);
        EXPECT_FALSE(kind.help.empty());
        for (const ParameterInfo& p : kind.parameters) EXPECT_FALSE(p.help.empty()) << p.name;
    }
}

TEST(Generate, SameSeedSameGraphWhateverTheThreads) {
    const int threads = omp_get_max_threads();
    for (const KindInfo& kind : generator_kinds()) {
        SCOPED_TRACE(kind.name);
        const Params weighted{{"weighted", "yes"}};
        omp_set_num_threads(1);
        const CsrGraph one = make(kind.name, weighted, 7);
        omp_set_num_threads(2);
        const CsrGraph two = make(kind.name, weighted, 7);
        omp_set_num_threads(5);
        const CsrGraph five = make(kind.name, weighted, 7);
        EXPECT_EQ(one.col_idx, two.col_idx);
        EXPECT_EQ(one.row_ptr, five.row_ptr);
        EXPECT_EQ(one.col_idx, five.col_idx);
        EXPECT_EQ(one.edge_weight, five.edge_weight);
        if (kind.name != "mesh") {
            EXPECT_NE(print_of(one), print_of(make(kind.name, {}, 8)));
        }
    }
    omp_set_num_threads(threads);
}

TEST(Generate, GoldenFingerprints) {
    // A change here makes stand-ins of one version differ from those of another: raise the recipes' names, not the
    // values.
    EXPECT_EQ(print_of(make("uniform", {{"n_rows", "300"}, {"n_cols", "200"}, {"m", "2000"}})),
              "4eb9b95f4659a1952562dda037a75289");
    EXPECT_EQ(print_of(make("rmat", {{"n", "1000"}, {"m", "5000"}})), "3f7160ec505dd5ed9ac206d6e1163e72");
    EXPECT_EQ(print_of(make("power_law", {{"n_rows", "1000"}, {"m", "8000"}, {"communities", "10"}})),
              "d8e7c00bf1964f58e91ea8fbb330a19b");
    EXPECT_EQ(print_of(make("sbm", {{"n", "1000"}})), "ac5252631e625be60bf3167b5296a23f");
    EXPECT_EQ(print_of(make("banded", {{"n", "500"}})), "fb319648b3f9d91f0d4c7f1b09b667ea");
    EXPECT_EQ(print_of(make("bipartite", {{"n_rows", "100"}})), "b5e93d7e01d2b8c441dc7874395e4abf");
    EXPECT_EQ(print_of(make("mesh", {{"nx", "20"}, {"ny", "10"}, {"neighbours", "8"}})),
              "a25f71d65347a66513723935320b8345");
    EXPECT_EQ(print_of(make("molecules", {{"n", "1000"}, {"graphs", "50"}, {"symmetric", "no"}})),
              "277a55bcaf43a095f2497826e05d445b");
    EXPECT_EQ(print_of(make("cliques", {{"n", "500"}, {"graphs", "20"}, {"self_loops", "9"}})),
              "479acaebabd6ce6cf904e350a7fa9e8a");
    EXPECT_EQ(print_of(make("tiles", {{"n", "100"}, {"per_row", "3"}})), "b4b3b394d7c0f5f4973efa36723cc620");
}

TEST(Generate, EntriesAreExactAndDistinct) {
    struct Case {
        std::string kind;
        Params params;
        std::int64_t m;
        std::int64_t loops;
        bool symmetric;
    };
    const std::vector<Case> cases{
        {"uniform", {{"n_rows", "1003"}, {"m", "20001"}}, 20001, 0, false},
        {"uniform", {{"n_rows", "1003"}, {"m", "20001"}, {"symmetric", "yes"}, {"self_loops", "3"}}, 20001, 3, true},
        {"uniform", {{"n_rows", "40"}, {"m", "1560"}}, 1560, 0, false},
        {"uniform", {{"n_rows", "40"}, {"m", "1600"}, {"self_loops", "-1"}}, 1600, 40, false},
        {"uniform", {{"n_rows", "41"}, {"m", "1640"}, {"symmetric", "yes"}}, 1640, 0, true},
        {"uniform", {{"n_rows", "40"}, {"m", "1500"}, {"symmetric", "yes"}}, 1500, 0, true},
        {"uniform", {{"n_rows", "5"}, {"m", "0"}}, 0, 0, false},
        {"rmat", {{"n", "777"}, {"m", "30000"}}, 30000, 0, false},
        {"rmat", {{"scale", "9"}, {"m", "30000"}, {"symmetric", "yes"}, {"shuffle", "yes"}}, 30000, 0, true},
        {"rmat", {{"n", "5"}, {"m", "20"}, {"a", "0"}, {"b", "0"}, {"c", "0"}}, 20, 0, false},
        {"power_law", {{"n_rows", "2000"}, {"m", "40000"}, {"max_degree", "1500"}}, 40000, 0, true},
        {"power_law", {{"n_rows", "100"}, {"m", "9900"}}, 9900, 0, true},
        {"power_law", {{"n_rows", "900"}, {"m", "9001"}, {"symmetric", "no"}, {"self_loops", "1"}}, 9001, 1, false},
        {"sbm", {{"n", "999"}, {"m", "9990"}, {"blocks", "7"}, {"degree_out", "0"}}, 9990, 0, true},
        {"banded", {{"n", "100"}, {"bandwidth", "3"}, {"fill", "1"}}, 2 * (99 + 98 + 97), 0, true},
        {"banded", {{"n", "100"}, {"bandwidth", "3"}, {"m", "301"}, {"symmetric", "no"}}, 301, 0, false},
        {"molecules", {{"n", "5000"}, {"graphs", "200"}, {"m", "10400"}}, 10400, 0, true},
        {"molecules", {{"n", "5000"}, {"graphs", "200"}, {"m", "5200"}, {"symmetric", "no"}}, 5200, 0, false},
        {"cliques", {{"n", "600"}, {"graphs", "20"}, {"m", "9000"}, {"self_loops", "600"}}, 9000, 600, true},
        {"tiles", {{"n", "64"}, {"tile", "16"}, {"per_row", "4"}}, 64 * 64, 64, true},
        {"cliques", {{"n", "60"}, {"graphs", "3"}, {"density", "1"}, {"size_spread", "0"}}, 3 * 20 * 19, 0, true},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(text(Recipe{"", c.kind, c.params, 1, ""}));
        const CsrGraph graph = make(c.kind, c.params);
        EXPECT_EQ(graph.m(), c.m);
        EXPECT_EQ(check_rows(graph, false), c.loops);
        // A complete or an empty graph is symmetric whether asked or not.
        const std::int64_t n = graph.n_rows;
        if (graph.m() > 0 && graph.m() - c.loops < n * (n - 1)) {
            EXPECT_EQ(is_symmetric(graph), c.symmetric);
        }
    }
}

TEST(Generate, RectangularKeepsItsDiagonal) {
    const CsrGraph full =
        make("bipartite", {{"n_rows", "13"}, {"n_cols", "29"}, {"m", "377"}, {"column_max_degree", "13"}});
    EXPECT_EQ(full.m(), 13 * 29);
    EXPECT_EQ(check_rows(full, false), 13);
    const CsrGraph even = make("bipartite", {{"n_rows", "1000"}, {"fanout", "10"}});
    const Features f = features_of(even.view());
    EXPECT_EQ(f.degree_max, 10);
    EXPECT_EQ(f.degree_p50, 10);
    EXPECT_GT(even.m(), 2 * f.distinct_cols) << "popular columns come up again";
}

TEST(Generate, DuplicatesOnlyWhenAsked) {
    const Params params{{"n_rows", "50"}, {"m", "4000"}, {"duplicates", "yes"}};
    const CsrGraph graph = make("uniform", params);
    EXPECT_EQ(graph.m(), 4000) << "more than the 2450 distinct ones";
    check_rows(graph, true);
    EXPECT_LE(features_of(graph.view()).counts.distinct_cols_8, 7 * 50);
}

TEST(Generate, PowerLawHasTheDegreesAskedFor) {
    const CsrGraph g =
        make("power_law", {{"n_rows", "20000"}, {"m", "400000"}, {"exponent", "2.1"}, {"max_degree", "2000"}});
    const Features f = features_of(g.view());
    EXPECT_DOUBLE_EQ(f.degree_mean, 20);
    // A hub meets many of its neighbours from both sides and stays below its aim by what it met twice.
    EXPECT_GT(f.degree_max, 1500);
    EXPECT_LT(f.degree_max, 2200);
    EXPECT_GT(f.degree_gini, 0.5);
    // P(degree > 10 x) / P(degree > x) = 10^-1.1 for a power law of exponent 2.1.
    std::int64_t above_40 = 0;
    std::int64_t above_400 = 0;
    for (const auto& [degree, rows] : f.counts.row_degrees) {
        if (degree > 40) above_40 += rows;
        if (degree > 400) above_400 += rows;
    }
    EXPECT_NEAR(static_cast<double>(above_400) / static_cast<double>(above_40), 0.079, 0.025);
}

TEST(Generate, QuantilesAreMet) {
    // Mean 100 as given, so that nothing is scaled: half of the rows 20, half 180.
    const CsrGraph g = make(
        "power_law",
        {{"n_rows", "4000"}, {"m", "400000"}, {"symmetric", "no"}, {"quantiles", "0:20 0.499999:20 0.5:180 1:180"}});
    const Features f = features_of(g.view());
    EXPECT_EQ(f.degree_p50, 20);
    EXPECT_EQ(f.degree_p90, 180);
    EXPECT_EQ(f.degree_max, 180);
}

TEST(Generate, CommunitiesHoldTheirShare) {
    const CsrGraph g = make("sbm", {{"n", "5000"}, {"blocks", "25"}, {"degree_in", "15"}, {"degree_out", "5"}});
    EXPECT_EQ(g.m(), 5000 * 20);
    std::int64_t inside = 0;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        for (auto e = g.row_ptr[static_cast<std::size_t>(i)]; e < g.row_ptr[static_cast<std::size_t>(i) + 1]; ++e) {
            inside += g.col_idx[static_cast<std::size_t>(e)] / 200 == i / 200;
        }
    }
    EXPECT_NEAR(static_cast<double>(inside) / static_cast<double>(g.m()), 0.75, 0.01);
}

TEST(Generate, RmatFillsQuadrantsAsAsked) {
    const CsrGraph g = make("rmat", {{"scale", "12"}, {"m", "100000"}, {"a", "0.5"}, {"b", "0.25"}, {"c", "0.15"}});
    std::map<std::pair<bool, bool>, double> quadrant;
    const auto rows = expand_rows(g.view());
    for (std::size_t e = 0; e < rows.size(); ++e) quadrant[{rows[e] >= 2048, g.col_idx[e] >= 2048}] += 1e-5;
    EXPECT_NEAR((quadrant[{false, false}]), 0.5, 0.03);
    EXPECT_NEAR((quadrant[{false, true}]), 0.25, 0.03);
    EXPECT_NEAR((quadrant[{true, false}]), 0.15, 0.03);
    EXPECT_NEAR((quadrant[{true, true}]), 0.1, 0.03);
}

TEST(Generate, MeshesHaveTheirStencil) {
    const auto degrees = [](const CsrGraph& g) { return features_of(g.view()).counts.row_degrees; };
    using Histogram = std::vector<std::pair<std::int32_t, std::int64_t>>;
    EXPECT_EQ(degrees(make("mesh", {{"nx", "5"}, {"ny", "4"}})), (Histogram{{2, 4}, {3, 10}, {4, 6}}));
    EXPECT_EQ(degrees(make("mesh", {{"nx", "5"}, {"ny", "4"}, {"neighbours", "8"}})),
              (Histogram{{3, 4}, {5, 10}, {8, 6}}));
    EXPECT_EQ(degrees(make("mesh", {{"nx", "3"}, {"ny", "3"}, {"nz", "3"}, {"neighbours", "26"}})),
              (Histogram{{7, 8}, {11, 12}, {17, 6}, {26, 1}}));
    EXPECT_EQ(degrees(make("mesh", {{"nx", "3"}, {"ny", "3"}, {"neighbours", "6"}})),
              (Histogram{{2, 2}, {3, 2}, {4, 4}, {6, 1}}));
    const CsrGraph directed = make("mesh", {{"nx", "5"}, {"ny", "4"}, {"symmetric", "no"}});
    EXPECT_EQ(directed.m(), 31);
    EXPECT_FALSE(is_symmetric(directed));
}

TEST(Generate, UnionsKeepApart) {
    const CsrGraph g = make("molecules", {{"n", "3000"}, {"graphs", "120"}});
    std::vector<std::int32_t> root(3000);
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](std::int32_t v) {
        while (root[static_cast<std::size_t>(v)] != v) v = root[static_cast<std::size_t>(v)];
        return v;
    };
    const auto rows = expand_rows(g.view());
    for (std::size_t e = 0; e < rows.size(); ++e) root[static_cast<std::size_t>(find(rows[e]))] = find(g.col_idx[e]);
    std::set<std::int32_t> components;
    for (std::int32_t v = 0; v < 3000; ++v) components.insert(find(v));
    EXPECT_EQ(components.size(), 120u);
    EXPECT_LE(features_of(g.view()).degree_max, 4);
}

TEST(Generate, WeightsHaveBothSignsAndFollowSymmetry) {
    const CsrGraph g = make("power_law", {{"n_rows", "500"}, {"m", "6000"}, {"weighted", "yes"}});
    ASSERT_EQ(g.edge_weight.size(), g.col_idx.size());
    const auto negative = std::count_if(g.edge_weight.begin(), g.edge_weight.end(), [](float w) { return w < 0; });
    EXPECT_NEAR(static_cast<double>(negative), 3000, 300);
    for (const float w : g.edge_weight) EXPECT_TRUE(w != 0 && w > -1 && w < 1);
    CsrGraph reversed = reverse(g.view());
    sort_columns(reversed);
    EXPECT_EQ(reversed.edge_weight, g.edge_weight);
}

void expect_error(const std::string& kind, const Params& params, ErrorKind expected, const std::string& words) {
    SCOPED_TRACE(text(Recipe{"", kind, params, 1, ""}));
    try {
        make(kind, params);
        ADD_FAILURE() << "no error";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), expected);
        EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
}

TEST(Generate, ErrorsSayWhatWasExpected) {
    constexpr ErrorKind kInvalid = ErrorKind::invalid_argument;
    expect_error("star", {}, kInvalid, "expected one of uniform, rmat");
    expect_error("uniform", {{"n", "5"}}, kInvalid, "unknown parameter 'n'; expected one of n_rows");
    expect_error("uniform", {{"m", "5"}, {"m", "6"}}, kInvalid, "given twice");
    expect_error("uniform", {{"m", "many"}}, kInvalid, "expected a whole number from 0");
    expect_error("uniform", {{"m", "-1"}}, kInvalid, "expected a whole number from 0");
    expect_error("uniform", {{"symmetric", "1"}}, kInvalid, "expected yes or no");
    expect_error("uniform", {{"n_rows", "10"}, {"m", "91"}}, kInvalid, "at most 90");
    expect_error("uniform", {{"n_rows", "10"}, {"n_cols", "5"}, {"symmetric", "yes"}}, kInvalid, "no symmetry");
    expect_error("uniform", {{"m", "99"}, {"symmetric", "yes"}}, kInvalid, "change m or self_loops by one");
    expect_error("uniform", {{"m", "2147483648"}}, ErrorKind::unsupported, "2^31-1");
    expect_error("uniform", {{"self_loops", "10001"}}, kInvalid, "at most the 10000 vertices");
    expect_error("rmat", {{"a", "0.9"}, {"b", "0.2"}}, kInvalid, "at most 1");
    expect_error("power_law", {{"exponent", "1"}}, kInvalid, "expected a number from 1.05");
    expect_error("power_law", {{"quantiles", "0:1 0.5"}}, kInvalid, "pair 2");
    expect_error("power_law", {{"quantiles", "0:5 1:2"}}, kInvalid, "out of order");
    expect_error("power_law", {{"column_exponent", "2"}}, kInvalid, "symmetric=no");
    expect_error("power_law", {{"max_degree", "3"}}, kInvalid, "mean degree");
    expect_error("sbm", {{"n", "5"}, {"blocks", "6"}}, kInvalid, "at most n");
    expect_error("mesh", {{"neighbours", "5"}}, kInvalid, "expected 4, 6 or 8");
    expect_error("mesh", {{"nx", "100000"}, {"ny", "100000"}}, ErrorKind::unsupported, "2^31-2");
    expect_error("molecules", {{"m", "10"}}, kInvalid, "m from 38000");
    expect_error("tiles", {{"n", "100"}, {"per_row", "8"}}, kInvalid, "at most the 7 tiles");
    expect_error("tiles", {{"n", "2000000"}, {"tile", "2000"}}, ErrorKind::unsupported, "2^31-2");
    expect_error("cliques", {{"n", "1000000"}, {"graphs", "1"}}, kInvalid, "too large to be dense");
}

TEST(Standins, AreCompiledInAndMatchTheirFigures) {
    const std::vector<std::string> names = standin_names();
    EXPECT_EQ(names.size(), 19u);
    for (const std::string& name : names) {
        const Recipe recipe = standin(name);
        EXPECT_EQ(recipe.name, "standin/" + name);
        EXPECT_EQ(standin("standin/" + name), recipe);
        EXPECT_FALSE(recipe.source.empty());
    }
    const CsrGraph ppi = generate(standin("ppi"));
    EXPECT_EQ(ppi.n_rows, 56944);
    EXPECT_EQ(ppi.m(), 818716);
    EXPECT_TRUE(is_symmetric(ppi));
    const CsrGraph arxiv = generate(standin("ogbn_arxiv"));
    EXPECT_EQ(arxiv.n_rows, 169343);
    EXPECT_EQ(arxiv.m(), 1166243);
    EXPECT_EQ(check_rows(arxiv, false), 0);
    EXPECT_THROW(standin("cora"), Error);
}

TEST(Recipes, AreReadInOrder) {
    const auto recipes = parse_recipes(
        R"({"recipes": [{"name": "x", "kind": "uniform", "seed": 9,
                         "params": {"m": 10, "n_rows": 5, "shuffle": true}}]})");
    ASSERT_EQ(recipes.size(), 1u);
    EXPECT_EQ(text(recipes[0]), "uniform{m=10,n_rows=5,shuffle=yes} seed 9");
    EXPECT_EQ(generate(recipes[0]).m(), 10);
    EXPECT_THROW(parse_recipes("{"), Error);
    EXPECT_THROW(parse_recipes(R"({"recipes": [{"name": "x"}]})"), Error);
    EXPECT_THROW(parse_recipes(R"({"recipes": [{"name": "x", "kind": "y", "params": {"m": [1]}}]})"), Error);
}

TEST(Recipes, AreReadFromTheirText) {
    for (const std::string& name : standin_names()) {
        Recipe recipe = standin(name);
        recipe.name.clear();
        recipe.source.clear();
        EXPECT_EQ(parse_text(text(recipe)), recipe) << name;
    }
    const Recipe with_commas{"", "power_law", {{"n_rows", "10"}, {"quantiles", "0.5:1,1:3"}, {"m", "20"}}, 7, ""};
    EXPECT_EQ(parse_text(text(with_commas)), with_commas);
    EXPECT_EQ(parse_text("uniform{} seed 0"), (Recipe{"", "uniform", {}, 0, ""}));
    for (const char* other : {"", "graph.mtx", "uniform", "uniform{m=1}", "{m=1} seed 1", "uniform{m=1} seed x",
                              "uniform{m=1} seed 1 ", "uniform{1} seed 1", "} seed 1{"}) {
        EXPECT_EQ(parse_text(other), std::nullopt) << other;
    }
}

// What `gnntune adapt` measures where nobody has: each can be made, in a moment, and no graph comes twice.
TEST(Generate, TellingProblemsCanBeMade) {
    std::set<std::string> names;
    std::set<std::int32_t> widths;
    for (const TellingProblem& p : telling_problems()) {
        EXPECT_TRUE(names.insert(p.recipe.name).second) << p.recipe.name;
        widths.insert(p.k);
        const CsrGraph graph = generate(p.recipe);
        EXPECT_GT(graph.m(), 0) << p.recipe.name;
        EXPECT_LE(graph.m(), 1'200'000) << p.recipe.name;
        // Rough is within the edges of a vertex, which recipes do not all say.
        const auto largest = std::max<std::int64_t>({graph.m(), graph.n_rows, graph.n_cols});
        const double work = static_cast<double>(p.k) * static_cast<double>(largest);
        EXPECT_LE(rough_size(p), work) << p.recipe.name;
        EXPECT_GE(rough_size(p) * 150, work) << p.recipe.name;
    }
    EXPECT_EQ(names.size(), 12U);
    EXPECT_EQ(widths, (std::set<std::int32_t>{16, 64, 256}));
}

}  // namespace
}  // namespace gnntune::generate
