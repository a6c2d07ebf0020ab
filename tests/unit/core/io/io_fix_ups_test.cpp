// The changes a user may ask for between the file and the graph.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/core/io/loaded_graph.hpp"

namespace gnntune::io_fix_ups_test {
namespace {

using test::cols;
using test::Floats;
using test::Ints;
using test::rows;
using test::weights;

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";
const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";

io::LoadedGraph read(const std::string& text, const io::ReadOptions& options) {
    return io::read_graph_bytes(text, "g.mtx", options);
}

TEST(FixUps, AreNoneWhereNothingWasAsked) {
    const auto g = read(kReal + "2 2 3\n1 1 1\n1 2 2\n1 2 3\n", {});
    EXPECT_EQ(g.graph.m(), 3);
    EXPECT_EQ(g.fix_ups.text(), "");
}

TEST(FixUps, RemoveSelfLoopsOfSquareMatricesOnly) {
    io::ReadOptions options;
    options.remove_self_loops = true;
    const auto g = read(kReal + "3 3 4\n1 1 1\n1 2 2\n2 2 3\n3 1 4\n", options);
    EXPECT_EQ(rows(g), (Ints{0, 1, 1, 2}));
    EXPECT_EQ(cols(g), (Ints{1, 0}));
    EXPECT_EQ(weights(g), (Floats{2, 4}));
    EXPECT_EQ(g.fix_ups.text(), "removed 2 self loops");
    EXPECT_EQ(read(kPattern + "2 3 1\n1 1\n", options).graph.m(), 1);
}

TEST(FixUps, MergedWeightsAddUp) {
    io::ReadOptions options;
    options.merge_duplicates = true;
    const auto g = read(kReal + "2 2 5\n1 2 1\n2 1 8\n1 2 2\n1 2 4\n1 1 16\n", options);
    EXPECT_EQ(rows(g), (Ints{0, 2, 3}));
    EXPECT_EQ(cols(g), (Ints{0, 1, 0}));
    EXPECT_EQ(weights(g), (Floats{16, 7, 8}));
    EXPECT_EQ(g.fix_ups.text(), "merged 2 duplicates");
    EXPECT_THROW(read(kReal + "1 1 2\n1 1 3e38\n1 1 3e38\n", options), Error);
}

TEST(FixUps, AddOnlyTheReverseEdgesThatAreMissing) {
    io::ReadOptions options;
    options.make_symmetric = true;
    const auto g = read(kReal + "3 3 4\n1 2 5\n2 1 6\n3 1 7\n3 3 8\n", options);
    EXPECT_EQ(rows(g), (Ints{0, 2, 3, 5}));
    EXPECT_EQ(cols(g), (Ints{1, 2, 0, 0, 2}));
    EXPECT_EQ(weights(g), (Floats{5, 7, 6, 7, 8}));
    EXPECT_EQ(g.fix_ups.text(), "added 1 reverse edge");
    EXPECT_THROW(read(kPattern + "2 3 1\n1 3\n", options), Error);
}

TEST(FixUps, WorkTogetherInOneSentence) {
    io::ReadOptions options;
    options.remove_self_loops = options.merge_duplicates = options.make_symmetric = true;
    const auto g = read(kPattern + "3 3 5\n1 1\n1 2\n1 2\n1 2\n2 3\n", options);
    EXPECT_EQ(cols(g), (Ints{1, 0, 2, 1}));
    EXPECT_EQ(g.fix_ups.text(), "removed 1 self loop, merged 2 duplicates, added 2 reverse edges");
}

}  // namespace
}  // namespace gnntune::io_fix_ups_test
