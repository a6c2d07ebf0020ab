// The names of an edge list's columns: what they say counts, whatever the places.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/common/expect_has.hpp"

namespace gnntune::io_column_names_test {
namespace {

io::LoadedGraph read(const std::string& text, const io::ReadOptions& options = {}, const std::string& name = "g.csv") {
    return io::read_graph_bytes(text, name, options);
}

std::string problem(const std::string& text, const io::ReadOptions& options = {}) {
    try {
        read(text, options);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error: " << text;
    return {};
}

const std::string kEdges = "0,1\n0,2\n2,1\n";
const std::string kTurned = "1,0\n2,0\n1,2\n";  // the same edges, the target first

TEST(ColumnNames, OfSourceAndTargetInOrderAreRead) {
    const auto plain = fingerprint(read(kEdges).graph.view());
    for (const char* names :
         {"src,dst", "source,target", "from,to", "Source, Target", "\"from\",\"to\"", "u,v", "FromNodeId,ToNodeId",
          "src_id,dst_id", "\"source node\",\"target node\"", "\xef\xbb\xbfsource,target"}) {
        const auto g = read(std::string(names) + "\n" + kEdges);
        EXPECT_EQ(fingerprint(g.graph.view()), plain) << names;
        EXPECT_EQ(g.fix_ups.text(), "skipped 1 header line") << names;
    }
}

TEST(ColumnNames, WithTheTargetFirstTurnTheEdges) {
    const auto plain = read(kEdges);
    for (const char* names :
         {"dst,src", "target,source", "to,from", "\"to\",\"from\"", "v,u", "dst_id,src_id", "Destination,Origin"}) {
        const auto g = read(std::string(names) + "\r\n" + kTurned);
        EXPECT_EQ(fingerprint(g.graph.view()), fingerprint(plain.graph.view())) << names;
        EXPECT_EQ(g.graph.col_idx, plain.graph.col_idx) << names;
        EXPECT_HAS(g.fix_ups.text(), "by their names");
    }
    const auto weighted = read("dst\tsrc\tweight\n1\t0\t5\n2\t0\t7\n1\t2\t9\n");
    EXPECT_EQ(fingerprint(weighted.graph.view()), fingerprint(plain.graph.view()));
    EXPECT_EQ(weighted.graph.edge_weight, (HostVector<float>{5, 9, 7}));
    EXPECT_EQ(weighted.fix_ups.text(), "skipped 1 header line, took columns 'dst', 'src' by their names");
    io::ReadOptions options;
    options.reverse = true;
    EXPECT_EQ(fingerprint(read("dst,src\n" + kTurned, options).graph.view()),
              fingerprint(read(kEdges, options).graph.view()));
    options = {};
    options.relabel = true;
    EXPECT_EQ(read("dst,src\n10,30\n20,10\n", options).graph.col_idx, read("30,10\n10,20\n", options).graph.col_idx);
}

TEST(ColumnNames, InACommentCountWhereAllAreKnown) {
    const auto plain = fingerprint(read(kEdges).graph.view());
    EXPECT_EQ(fingerprint(read("# dst src\n" + kTurned).graph.view()), plain);
    EXPECT_EQ(fingerprint(read("# FromNodeId\tToNodeId\n" + kEdges).graph.view()), plain);
    EXPECT_EQ(fingerprint(read("# edges go from source to target\n" + kEdges).graph.view()), plain);
    EXPECT_EQ(fingerprint(read("# to be read from left\n" + kEdges).graph.view()), plain);
    EXPECT_EQ(fingerprint(read(kEdges + "# dst src\n").graph.view()), plain);
}

TEST(ColumnNames, ThatNobodyKnowsAreReadByPlaceAndSaid) {
    EXPECT_EQ(read("id_1,id_2\n" + kEdges).fix_ups.text(),
              "skipped 1 header line, took columns 'id_1', 'id_2' as source and target");
    EXPECT_EQ(read("row,col\n" + kEdges).fix_ups.text(),
              "skipped 1 header line, took columns 'row', 'col' as source and target");
    EXPECT_EQ(read("src,other\n" + kEdges).fix_ups.text(),
              "skipped 1 header line, took columns 'src', 'other' as source and target");
    EXPECT_EQ(read("src,dst,time\n0,1,5\n1,0,6\n").fix_ups.text(),
              "skipped 1 header line, took column 'time' as weights");
    EXPECT_EQ(read("v,w\n" + kEdges).fix_ups.text(),
              "skipped 1 header line, took columns 'v', 'w' as source and target");
    EXPECT_EQ(read("edges of a graph\n" + kEdges).fix_ups.text(), "skipped 1 header line");
}

TEST(ColumnNames, InOtherPlacesAreErrors) {
    for (const char* text : {"id,src,dst\n0,0,1\n1,0,2\n", "src,weight,dst\n0,4,1\n0,5,2\n", "weight,src,dst\n3,0,1\n",
                             "a,src\n0,1\n1,2\n", "target,b\n0,1\n1,2\n", "source,weight\n0,1\n1,2\n",
                             "src,source\n0,1\n1,2\n", "\"\",\"src\",\"dst\"\n1,0,1\n2,0,2\n"}) {
        EXPECT_HAS(problem(text), "g.csv line 1: names the columns '");
        EXPECT_HAS(problem(text), "expected the source and the target in the first two");
    }
    EXPECT_HAS(problem(",src,dst\n0,0,1\n1,0,2\n"), "the first looks like an index");
    EXPECT_HAS(problem("# weight src dst\n3 0 1\n4 0 2\n"), "line 1: names the columns 'weight', 'src', 'dst'");
}

TEST(ColumnNames, OfAnotherNumberThanColumnsAreErrors) {
    EXPECT_HAS(problem("src dst\n1 5 7\n2 6 8\n"), "line 2: has 3 columns, but line 1 names 2");
    EXPECT_HAS(problem("src,dst,weight\n1,5\n2,6\n"), "line 2: has 2 columns, but line 1 names 3");
    io::ReadOptions options;
    options.ignore_weights = true;
    EXPECT_EQ(read("dst,src,kind\n1,0,follows\n2,0,likes it\n1,2,x\n", options).graph.col_idx,
              read(kEdges).graph.col_idx);
    EXPECT_HAS(problem("src dst\n1 5 7\n2 6 8\n", options), "line 2: has 3 columns, but line 1 names 2");
}

TEST(ColumnNames, AreNotLookedForInLongLines) {
    std::string words = "dst src";
    while (words.size() < 5000) words += " weight";
    EXPECT_EQ(read("# " + words + "\n" + kEdges).graph.col_idx, read(kEdges).graph.col_idx);
    EXPECT_EQ(read(words + "\n" + kEdges).fix_ups.text(), "skipped 1 header line");
}

TEST(ColumnNames, AreNoWayIntoTheSourceOfAGraph) {
    // graph_again.cpp reads fix-ups between brackets.
    const auto text = read("a) (reversed,[1m\u202e\n" + kEdges).fix_ups.text();
    EXPECT_EQ(text, "skipped 1 header line, took columns 'a? ?reversed', '?1m\?\?\?' as source and target");
}

}  // namespace
}  // namespace gnntune::io_column_names_test
