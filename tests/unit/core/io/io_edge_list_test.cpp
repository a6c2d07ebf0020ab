// Edge lists, TU pairs and METIS: the texts without a banner.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/core/io/loaded_graph.hpp"
#include "tests/unit/core/io/read_problem.hpp"

namespace gnntune::io_edge_list_test {
namespace {

using test::cols;
using test::Floats;
using test::Ints;
using test::problem;
using test::rows;
using test::weights;

using Ids = std::vector<std::int64_t>;

io::LoadedGraph read(const std::string& text, const io::ReadOptions& options = {}, const std::string& name = "g.txt") {
    return io::read_graph_bytes(text, name, options);
}

io::LoadedGraph read_metis(const std::string& text) {
    return read(text, {}, "g.graph");
}

TEST(EdgeList, MeansSourceThenTarget) {
    const auto g = read("# a comment\n0\t1\n0\t2\n2\t1\n");
    EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3}));  // vertex 1 has two sources, vertex 2 one
    EXPECT_EQ(cols(g), (Ints{0, 2, 0}));
    EXPECT_EQ(g.format, "edges");
    EXPECT_TRUE(g.original_ids.empty());
}

TEST(EdgeList, ReverseMeansTargetThenSource) {
    io::ReadOptions options;
    options.reverse = true;
    const auto g = read("0 1\n0 2\n2 1\n", options);
    EXPECT_EQ(rows(g), (Ints{0, 2, 2, 3}));
    EXPECT_EQ(cols(g), (Ints{1, 2, 1}));
}

TEST(EdgeList, TakesIdsFromOneWhereTheSmallestIsOneAndSaysSo) {
    const auto g = read("% konect\n1 2\n2 3\n3 1\n");
    EXPECT_EQ(rows(g), (Ints{0, 1, 2, 3}));
    EXPECT_EQ(cols(g), (Ints{2, 0, 1}));
    EXPECT_EQ(g.fix_ups.text(), "took ids from 1");
    const auto gap = read("1 2\n2 5\n5 1\n");
    EXPECT_EQ(rows(gap), (Ints{0, 1, 2, 2, 2, 3}));
    EXPECT_EQ(gap.fix_ups.text(), "took ids from 1");
}

TEST(EdgeList, KeepsIdsAndTheirGapsAsAnApplicationHasThem) {
    const auto g = read("0 2\n2 5\n5 0\n0 5\n");
    EXPECT_EQ(rows(g), (Ints{0, 1, 1, 2, 2, 2, 4}));
    EXPECT_EQ(cols(g), (Ints{5, 0, 0, 2}));
    EXPECT_EQ(g.fix_ups.text(), "");
    EXPECT_TRUE(g.original_ids.empty());
    CsrGraph application;  // edge_index = [[0, 2, 5, 0], [2, 5, 0, 5]], six vertices
    application.n_rows = application.n_cols = 6;
    application.row_ptr = {0, 1, 1, 2, 2, 2, 4};
    application.col_idx = {5, 0, 0, 2};
    EXPECT_EQ(fingerprint(g.graph.view()), fingerprint(application.view()));
}

TEST(EdgeList, SaysWhereMostIdsHaveNoEdges) {
    const auto g = read("7 90\n90 8\n");
    EXPECT_EQ(g.graph.n_rows, 91);
    EXPECT_EQ(g.fix_ups.text(), "kept 88 ids without edges");
    EXPECT_EQ(read("# Nodes: 91 Edges: 2\n7 90\n90 8\n").fix_ups.text(), "");  // the file says so itself
}

TEST(EdgeList, RefusesIdsThatNoMemoryHoldsAndNamesRelabel) {
    EXPECT_NE(problem([] { read("0 1\n5 2000000000\n"); }).find("claims 2000000001 vertices"), std::string::npos);
    EXPECT_NE(problem([] { read("0 1\n5 2000000000\n"); }).find("give --relabel"), std::string::npos);
    for (const char* text : {"7 8\n8 90000000000\n", "7 8\n8 2147483647\n"}) {
        try {
            read(text);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::unsupported);
            EXPECT_NE(std::string(error.what()).find("give --relabel"), std::string::npos) << error.what();
        }
    }
}

TEST(EdgeList, RelabelsInAscendingOrderOnRequest) {
    io::ReadOptions options;
    options.relabel = true;
    const auto g = read("30 10\n10 20\n", options);
    EXPECT_EQ(rows(g), (Ints{0, 1, 2, 2}));
    EXPECT_EQ(cols(g), (Ints{2, 0}));
    EXPECT_EQ(g.original_ids, (Ids{10, 20, 30}));
    EXPECT_EQ(g.fix_ups.text(), "relabelled 3 ids");
    EXPECT_EQ(read("5 2000000000\n", options).original_ids, (Ids{5, 2000000000}));
    const auto wide = read("7 90000000000\n90000000000 8\n", options);
    EXPECT_EQ(wide.original_ids, (Ids{7, 8, 90000000000}));
    EXPECT_EQ(rows(wide), (Ints{0, 0, 1, 2}));
    EXPECT_EQ(cols(wide), (Ints{2, 0}));
    EXPECT_EQ(read("0 1\n1 0\n", options).fix_ups.text(), "");
    options.base = 0;
    EXPECT_THROW(read("0 1\n", options), Error);
}

TEST(EdgeList, TheNumberOfVerticesMayBeGiven) {
    io::ReadOptions options;
    options.vertices = 6;
    const auto g = read("0 2\n2 1\n", options);
    EXPECT_EQ(g.graph.n_rows, 6);
    EXPECT_EQ(g.fix_ups.text(), "set vertices to 6");
    EXPECT_EQ(read("1 2\n2 6\n", options).fix_ups.text(), "took ids from 1, set vertices to 6");
    EXPECT_EQ(read("2 3\n3 6\n", options).fix_ups.text(), "took ids from 1, set vertices to 6");  // else 6 is too large
    EXPECT_EQ(read("2 3\n3 5\n", options).fix_ups.text(), "set vertices to 6");
    EXPECT_NE(problem([&] { read("0 6\n", options); }).find("id 6 is outside 0..5, the 6 vertices of --vertices"),
              std::string::npos);
    EXPECT_NE(
        problem([&] { read("0 67999999\n"); }).find("if it is right, give --vertices 68000000, or give --relabel"),
        std::string::npos);
    options.vertices = 68000000;
    EXPECT_EQ(read("0 67999999\n", options).graph.n_rows, 68000000) << "whoever says it himself is believed";
    options.vertices = 0;
    EXPECT_EQ(read("# Nodes: 4\n", options).graph.n_rows, 0);
}

TEST(EdgeList, ABaseKeepsIdsAndTheirGaps) {
    io::ReadOptions options;
    options.base = 1;
    const auto g = read("2 4\n", options);
    EXPECT_EQ(rows(g), (Ints{0, 0, 0, 0, 1}));
    EXPECT_EQ(cols(g), (Ints{1}));
    EXPECT_NE(problem([&] { read("1 2\n0 1\n", options); }).find("g.txt line 2: id 0 is below 1"), std::string::npos);
    options.base = 0;
    EXPECT_EQ(read("2 4\n", options).graph.n_rows, 5);
    EXPECT_EQ(read("1 2\n", options).graph.n_rows, 3);
    EXPECT_EQ(read("1 2\n", options).fix_ups.text(), "took ids from 0, kept 1 id without edges");
}

TEST(EdgeList, BelievesTheNumberOfVerticesInACommentThatFits) {
    EXPECT_EQ(read("# Nodes: 5 Edges: 1\n0 2\n").graph.n_rows, 5);
    EXPECT_EQ(read("# Nodes: 3 Edges: 1\n1 3\n").graph.n_rows, 3);
    EXPECT_EQ(read("# Nodes: 2 Edges: 1\n5 9\n").graph.n_rows, 10);  // SNAP counts those with edges
    EXPECT_EQ(read("# Nodes: 4 Edges: 0\n").graph.n_rows, 4);
}

TEST(EdgeList, TakesCommasSpacesTabsCarriageReturnsAndAByteOrderMark) {
    EXPECT_EQ(cols(read("\xef\xbb\xbf"
                        "0,1\r\n1, 2\r\n 2 ,0\r\n\r\n")),
              (Ints{2, 0, 1}));
}

TEST(EdgeList, SkipsALineOfColumnNamesAndSaysSo) {
    const auto g = read("id_1,id_2\n0,1\n1,0\n");
    EXPECT_EQ(g.graph.m(), 2);
    EXPECT_EQ(g.fix_ups.text(), "skipped 1 header line, took columns 'id_1', 'id_2' as source and target");
}

TEST(EdgeList, WarnsWhereACommentCountsOtherwise) {
    using Words = std::vector<std::string>;
    const auto edges = read("# Nodes: 3 Edges: 5\n0 1\n1 2\n").warnings;
    EXPECT_EQ(edges, (Words{"g.txt: its comment says 5 edges, but the list holds 2; it is read as it stands, so check "
                            "that the list is whole"}));
    const auto fewer = read("# Nodes: 2 Edges: 3\n0 1\n1 5\n5 6\n");
    EXPECT_EQ(fewer.graph.n_rows, 7);
    EXPECT_EQ(fewer.warnings, (Words{"g.txt: its comment says 2 vertices, but 4 ids occur in the list, up to 6; it is "
                                     "read as it stands, so check that the list is whole"}));
    EXPECT_EQ(read("# Nodes: 5 Edges: 3\n0 1\n1 5\n5 6\n").warnings.size(),
              1u);  // neither 4 that occur nor 7 up to the largest
    EXPECT_EQ(read("# Nodes: 3000000000 Edges: 1\n0 1\n").warnings.size(), 1u);
    const auto both = read("# Nodes: 2 Edges: 1\n0 1\n1 5\n5 6\n").warnings;
    ASSERT_EQ(both.size(), 1u);
    EXPECT_NE(both[0].find("1 edges, but the list holds 3, and 2 vertices, but 4 ids occur"), std::string::npos)
        << both[0];
    io::ReadOptions relabel;
    relabel.relabel = true;
    EXPECT_EQ(read("# Nodes: 3 Edges: 3\n0 1\n1 5\n5 6\n", relabel).warnings.size(), 1u);
}

TEST(EdgeList, BelievesACommentByEitherMeaning) {
    for (const char* text :
         {"# Nodes: 4 Edges: 3\n0 1\n1 5\n5 6\n",  // ids that occur, as SNAP counts
          "# Nodes: 7 Edges: 3\n0 1\n1 5\n5 6\n",  // from 0
          "# Nodes: 9 Edges: 3\n0 1\n1 5\n5 6\n",  // and some without edges
          "# Nodes: 6 Edges: 3\n1 2\n2 5\n5 6\n",  // from 1
          "# Nodes: 4\n0 1\n1 5\n5 6\n", "# Edges: 9\n0 1\n", "# Nodes: 4, Edges: 3.\n0 1\n1 5\n5 6\n",
          "# Nodes: 1,000 Edges: 3e0\n0 1\n1 5\n5 6\n"}) {  // no whole numbers
        EXPECT_TRUE(read(text).warnings.empty()) << text << read(text).warnings.front();
    }
    io::ReadOptions options;
    options.vertices = 8;  // the caller knows better
    EXPECT_TRUE(read("# Nodes: 2 Edges: 3\n0 1\n1 5\n5 6\n", options).warnings.empty());
}

TEST(EdgeList, ReadsAWeightColumnInAllLinesOrNone) {
    EXPECT_EQ(weights(read("0 1 0.5\n1 0 -2\n")), (Floats{-2, 0.5f}));
    io::ReadOptions options;
    options.format = io::Format::edge_list;
    EXPECT_NE(problem([&] { read("0 1 0.5\n1 0\n", options); }).find("line 2: has 2 columns"), std::string::npos);
    EXPECT_NE(problem([&] { read("0 1\n1 0 3\n", options); }).find("line 2: has 3 columns"), std::string::npos);
    EXPECT_NE(problem([&] { read("0 1 nan\n", options); }).find("line 1: expected a finite weight"), std::string::npos);
    EXPECT_NE(
        problem([&] { read("0 1 1e39\n", options); }).find("expected a weight that float32 holds as third column"),
        std::string::npos);
    EXPECT_NE(problem([&] { read("0 1 2 3\n", options); }).find("line 1: expected two or three columns"),
              std::string::npos);
}

TEST(IgnoredWeights, MayBeAnythingInEveryTextFormat) {
    io::ReadOptions options;
    options.ignore_weights = true;
    const std::pair<const char*, const char*> kFiles[] = {
        {"g.txt", "0 1 inf\n1 2 nan\n2 0 many words\n"},
        {"g.csv", "0,1,1e999\n1,2,-\n2,0,x\n"},
        {"g.graph", "3 3 001\n2 inf 3 abc\n1 inf 3 nan\n1 abc 2 -\n"},
        {"g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 inf\n2 3 abc def\n3 1\n"},
        {"g.mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 3\n1 2 0 1\n2 3 nan 1\n3 1 1 1\n"},
    };
    for (const auto& [name, text] : kFiles) {
        const auto g = read(text, options, name);
        EXPECT_FALSE(g.graph.weighted()) << text;
        EXPECT_EQ(g.graph.n_rows, 3) << text;
        EXPECT_EQ(g.fix_ups.text(), g.format == "metis" ? "ignored 6 weights" : "ignored 3 weights") << text;
        EXPECT_THROW(read(text, {}, name), Error) << text;
    }
}

TEST(EdgeList, NamesTheLineThatIsNoEdge) {
    io::ReadOptions options;
    options.format = io::Format::edge_list;
    for (const char* line : {"-1 2", "a b", "1", "1.5 2", "99999999999999999999 1", "1;2"}) {
        EXPECT_NE(problem([&] {
                      read("0 1\n" + std::string(line) + "\n", options);
                  }).find("g.txt line 2: expected two vertex ids"),
                  std::string::npos)
            << line;
    }
}

TEST(EdgeList, CountsLinesAcrossBlocks) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "123456 654321\n";
    EXPECT_NE(problem([&] { read(text + "x y\n"); }).find("line 100001:"), std::string::npos);
}

TEST(Metis, GivesTheMatrixAsWritten) {
    const auto g = read_metis("% c\n4 2\n2\n1 3\n2\n\n");
    EXPECT_EQ(rows(g), (Ints{0, 1, 3, 4, 4}));
    EXPECT_EQ(cols(g), (Ints{1, 0, 2, 1}));
    EXPECT_EQ(g.format, "metis");
    EXPECT_EQ(cols(read_metis("3 4\n2 3\n1\n1\n")), (Ints{1, 2, 0, 0}));  // a header that counts both ends
}

TEST(Metis, SkipsVertexSizesAndWeightsAndReadsEdgeWeights) {
    EXPECT_EQ(weights(read_metis("3 2 001\n2 5\n1 5 3 7\n2 7\n")), (Floats{5, 5, 7, 7}));
    const auto g = read_metis("2 1 111 2\n9 8 7 2 4\n9 8 7 1 4\n");
    EXPECT_EQ(cols(g), (Ints{1, 0}));
    EXPECT_EQ(weights(g), (Floats{4, 4}));
    EXPECT_EQ(cols(read_metis("2 1 10\n6 2\n6 1\n")), (Ints{1, 0}));
}

TEST(Metis, IsRecognisedByLinesOfDifferentLengthWithoutAName) {
    EXPECT_EQ(read("4 3\n2 3 4\n1\n1\n1\n").format, "metis");
}

TEST(Metis, IsRecognisedByAFirstLineLongerThanWhatIsLookedAt) {
    std::string star = "20001 20000\n";
    for (int i = 2; i <= 20001; ++i) star += std::to_string(i) + ' ';
    for (int i = 2; i <= 20001; ++i) star += "\n1";
    const auto g = read(star);
    EXPECT_EQ(g.format, "metis");
    EXPECT_EQ(g.graph.m(), 40000);
    EXPECT_EQ(g.graph.row_ptr[1], 20000);
}

TEST(Metis, ForgivesMissingBlankLinesAtTheEndButNoMissingEdges) {
    EXPECT_EQ(read_metis("4 1\n2\n1\n").graph.n_rows, 4);
    EXPECT_NE(problem([] { read_metis("4 3\n2 3\n1\n"); }).find("promises 3 edges, so 6 neighbours"),
              std::string::npos);
}

TEST(Metis, NamesTheLineThatIsWrong) {
    EXPECT_NE(problem([] { read_metis("2 1\n3\n1\n"); }).find("line 2: neighbour 3 of vertex 1 is outside 1..2"),
              std::string::npos);
    EXPECT_NE(problem([] { read_metis("2 1\n0\n1\n"); }).find("line 2: neighbour 0"), std::string::npos);
    EXPECT_NE(problem([] { read_metis("2 1\n2\n1\n1\n"); }).find("line 4: is a line more than the 2 vertices"),
              std::string::npos);
    EXPECT_NE(problem([] { read_metis("2 1 001\n2 nan\n1 1\n"); }).find("g.graph"), std::string::npos);
    io::ReadOptions options;
    options.format = io::Format::metis;
    EXPECT_NE(problem([&] { read("2 1 222\n2\n1\n", options); }).find("line 1: expected the METIS header"),
              std::string::npos);
    EXPECT_NE(problem([&] { read("2000000000 0\n", options); }).find("claims 2000000000 vertices"), std::string::npos);
}

class TuFolder : public testing::Test {
protected:
    void SetUp() override {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ =
            std::filesystem::temp_directory_path() / ("gnntune_tu_" + std::to_string(getpid()) + "_" + info->name());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void put(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

    std::filesystem::path folder_;
};

TEST_F(TuFolder, IsOneGraphWithTheVerticesOfTheIndicator) {
    put("DS_A.txt", "1, 2\n1, 3\n3, 2\n");
    put("DS_graph_indicator.txt", "1\n1\n1\n2\n");
    put("DS_graph_labels.txt", "1\n0\n");
    for (const auto& path : {folder_, folder_ / "DS_A.txt"}) {
        const auto g = io::read_graph(path);
        EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3, 3}));
        EXPECT_EQ(cols(g), (Ints{0, 2, 0}));
        EXPECT_EQ(g.name, "DS");
        EXPECT_EQ(g.format, "tu");
    }
    const auto scan = io::find_graphs(folder_);
    ASSERT_EQ(scan.graphs.size(), 1u);
    EXPECT_EQ(scan.graphs[0].path, folder_);
    EXPECT_EQ(scan.graphs[0].name, "DS");
    EXPECT_TRUE(scan.skipped.empty());
}

TEST_F(TuFolder, RefusesIdsThatTheIndicatorDoesNotKnow) {
    put("DS_A.txt", "1, 2\n2, 5\n");
    put("DS_graph_indicator.txt", "1\n1\n");
    EXPECT_NE(problem([&] { io::read_graph(folder_); }).find("vertex id 5 is outside 1..2"), std::string::npos);
    put("DS_A.txt", "0, 1\n");
    EXPECT_NE(problem([&] {
                  io::read_graph(folder_);
              }).find("DS_A.txt line 1: id 0 is below 1; if ids start at 0 here, give --base 0"),
              std::string::npos);
    put("DS_A.txt", "1, 2\n");
    put("DS_graph_indicator.txt", "1\nx\n");
    EXPECT_NE(problem([&] { io::read_graph(folder_); }).find("indicator.txt line 2: expected the number of a graph"),
              std::string::npos);
}

TEST_F(TuFolder, TakesIdsFromZeroWhereItIsTold) {
    put("DS_A.txt", "0, 1\n0, 2\n2, 1\n");
    put("DS_graph_indicator.txt", "1\n1\n1\n2\n");
    io::ReadOptions options;
    options.base = 0;
    const auto g = io::read_graph(folder_, options);
    EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3, 3}));
    EXPECT_EQ(cols(g), (Ints{0, 2, 0}));
    EXPECT_EQ(g.fix_ups.text(), "took ids from 0");
    put("DS_A.txt", "0, 4\n");
    EXPECT_NE(problem([&] { io::read_graph(folder_, options); }).find("vertex id 4 is outside 0..3"),
              std::string::npos);
}

}  // namespace
}  // namespace gnntune::io_edge_list_test
