// Files that nearly are a graph of some format: each is an error that says so, never another graph.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/common/error.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace gnntune::io_near_miss_test {
namespace {

struct NearMiss {
    const char* name;
    const char* text;
    const char* words;  ///< that the error must have
};

const NearMiss kNearMisses[] = {
    // Matrix Market: the banner.
    {"g.mtx", "%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 3 1\n3 1 2\n",
     "line 1 is nearly the banner"},
    {"g.txt", "%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 3 1\n3 1 2\n",
     "line 1 is nearly the banner"},
    {"g.txt", "%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n", "line 1 is nearly the banner"},
    {"g.mtx", "%%MatrixMarkt matrix coordinate real general\n3 3 1\n1 2 1\n", "line 1 is nearly the banner"},
    {"g", "%%MatrixMarkt matrix coordinate real general\n3 3 1\n1 2 1\n", "line 1 is nearly the banner"},
    {"g.txt", "##MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n", "line 1 is nearly the banner"},
    {"g.txt", "%%Matrix Market matrix coordinate real general\n3 3 1\n1 2 1\n", "line 1 is nearly the banner"},
    {"g.txt", "MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n", "line 1 is nearly the banner"},
    {"g.txt", "%% matrix coordinate real general\n3 3 1\n1 2 1\n", "line 1 is nearly the banner"},
    {"g.txt", "% mine\n%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n", "line 2 is the banner"},
    {"g.mtx", "3 3 3\n1 2\n2 3\n3 1\n", "found '3 3 3'"},
    {"g.mtx", "1 2\n2 3\n", "found '1 2'"},
    {"g.mtx", "0 1\n1 0\n", "must start with the banner"},
    {"g.MTX", "words\n", "must start with the banner"},
    {"g.mtx", "% a comment\n3 3 1\n1 2 1\n", "must start with the banner"},
    {"g.txt", "3 3 3\n1 2\n2 3\n3 1\n", "lost its banner"},
    {"g.txt", "3 3 4\n1 2 1\n2 3 1\n3 1 2\n2 2 9\n", "lost its banner"},
    {"g.el", "3 3 2\n1 2 1\n2 3 1\n", "lost its banner"},
    // METIS.
    {"g.graph", "# a comment\n3 2\n2\n1 3\n2\n", "a comment that starts with %"},
    {"g.txt", "# a comment\n4 4\n2 4\n1 3\n2 4\n1 3\n", "give --from metis"},
    {"g.txt", "4 4\n2 4\n1 3\n2 4\n1 3\n", "give --from metis"},
    {"g.txt", "4 8\n2 4\n1 3\n2 4\n1 3\n", "give --from metis"},
    {"g.txt", "3 2\n2\n0 1\n2\n", "neighbour 0 of vertex 2 is outside 1..3"},
    {"g.graph", "0 1\n1 2\n2 0\n", "is a line more than the 0 vertices"},
    {"g.graph", "0.5 1\n1 2\n", "does not start with METIS's header"},
    {"g.metis", "1\n2\n", "does not start with METIS's header"},
    {"g.graph", "2 1 1\n2 5\n1 9\n", "from vertex 1 to 2 has the weight 5, but the one back 9"},
    {"g.graph", "3 1\n2\n3\n\n", "vertex 1 has the neighbour 2, but vertex 2 lacks the neighbour 1"},
    {"g.graph", "3 1\n\n1\n2\n", "vertex 2 has the neighbour 1, but vertex 1 lacks the neighbour 2"},
    {"g.graph", "3 3\n2 3\n\n2\n", "METIS lists each edge at both ends"},
    {"g.graph", "3 2\n2 2\n1 3\n\n", "METIS lists each edge at both ends"},
    {"g.txt", "3 2\n2 3\n3\n1\n", "METIS lists each edge at both ends"},
    // Edge lists.
    {"g.txt", "4 3\n0 1\n1 2\n2 3\n", "remove that line"},
    {"g.el", "4 3\n0 1\n1 2\n2 3\n", "remove that line"},
    {"g.txt", "3 3 3\n0 1 1\n1 2 1\n2 0 1\n", "its first line, '3 3 3', counts the vertices and the edges"},
    {"g.csv", "3,3,3\n0,1,0.5\n1,2,0.25\n2,0,-1\n", "its first line, '3 3 3', counts the vertices and the edges"},
    {"g.wel", "9 9 2\n0 1 1\n1 2 1\n", "remove that line"},
    {"g.txt", "0 1\n1 2 5\n", "others on line 2"},
    {"g.txt", "1;2\n2;3\n", "holds '1;2'"},
    {"g.txt", "0 1\n1 2.5\n", "line 2 holds '2.5' where the id of a vertex was expected, a whole number from 0"},
    {"g.el", "# ids\n0 1 0.5\n-1 2 0.5\n", "line 3 holds '-1' where the id of a vertex was expected"},
    {"g.csv", "src,dst\n0,1\n1.0,2\n", "line 3 holds '1.0' where the id of a vertex was expected"},
    {"g.txt", "0 1\n1\n2 0\n",
     "line 2 holds 1 number, though the first holds 2; an edge list has two ids on every line"},
    {"g.txt", "0 1 0.5\n1 2 0.5\n2 0\n0 2 1\n", "line 3 holds 2 numbers, though the first holds 3"},
    // Adjacency lists.
    {"g.txt", "0 1 2\n1 0\n2 0\n", "of an adjacency list write one edge on a line"},
    {"g.txt", "1 2 3\n2 1\n3 1\n", "of an adjacency list write one edge on a line"},
    {"g.txt", "1 2 3 4\n2 1\n3 1\n4 1\n", "of an adjacency list write one edge on a line"},
    {"g.txt", "0 1 2\n1 0 2\n2 0 1\n", "may be an adjacency list"},
    {"g.txt", "1 2 3\n2 1 3\n3 1 2\n", "may be an adjacency list"},
    {"g.txt", "0: 1 2\n1: 0\n", "holds '0:'"},
    // A name that promises what the content is not.
    {"g.npz", "0 1\n1 2\n", "a text, though its name ends in .npz"},
    {"g.gnng", "0 1\n1 2\n", "a text, though its name ends in .gnng"},
    {"g.gnng", "\x89GNNG\n\x1a and so on", "a copy in text mode"},
    {"g", "\x89GNNG\n\x1a and so on", "a copy in text mode"},
};

TEST(NearMisses, AreErrorsThatSaySo) {
    for (const NearMiss& miss : kNearMisses) {
        try {
            const auto graph = io::read_graph_bytes(miss.text, miss.name);
            ADD_FAILURE() << miss.name << " was read as " << graph.format << ": " << miss.text;
        } catch (const Error& error) {
            const std::string words = error.what();
            EXPECT_EQ(error.kind(), ErrorKind::input) << words;
            EXPECT_EQ(words.find(miss.name), 0u) << words;
            EXPECT_NE(words.find(miss.words), std::string::npos) << words << "\n" << miss.text;
        }
    }
}

TEST(NearMisses, AreReadWhereTheFormatIsGiven) {
    io::ReadOptions edges;
    edges.format = io::Format::edge_list;
    EXPECT_EQ(io::read_graph_bytes("0 1\n1 0\n", "g.mtx", edges).graph.m(), 2);
    EXPECT_EQ(io::read_graph_bytes("4 3\n0 1\n1 2\n2 3\n", "g.txt", edges).graph.m(), 4);
    EXPECT_TRUE(io::read_graph_bytes("0 1 2\n1 0 2\n2 0 1\n", "g.txt", edges).graph.weighted());
    EXPECT_EQ(io::read_graph_bytes("3 3 3\n0 1 1\n1 2 1\n2 0 1\n", "g.txt", edges).graph.m(), 4);
    io::ReadOptions metis;
    metis.format = io::Format::metis;
    EXPECT_EQ(io::read_graph_bytes("4 4\n2 4\n1 3\n2 4\n1 3\n", "g.txt", metis).graph.m(), 8);
}

TEST(NearMisses, LeaveSoundGraphsAlone) {
    const std::pair<const char*, const char*> kSound[] = {
        {"# Matrix Market export of a web graph\n0 1\n1 2\n2 0\n", "edges"},
        {"# coordinates of a mesh\n0 1\n1 2\n", "edges"},
        {"0 1\n1 2\n2 3\n", "edges"},
        {"0 1 0.5\n1 2 0.5\n2 0 1\n", "edges"},  // weights that are no vertices
        {"0 1 7\n1 2 7\n2 0 7\n", "edges"},
        {"5 4 1\n4 3 2\n", "edges"},
        {"3 3 4\n0 1 1\n1 2 1\n2 0 1\n", "edges"},  // a self loop: its weight is not the number of the others
        {"2 2 3\n0 1 1\n1 2 1\n2 0 1\n", "edges"},  // of a vertex that others name too
        {"5 4 2\n3 2 1\n1 0 1\n", "edges"},
        {"3 2\n2\n1 3\n2\n", "metis"},
        {"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "mtx"},
        {"\n  %%matrixmarket MATRIX coordinate pattern general\n1 1 1\n1 1\n", "mtx"},
    };
    for (const auto& [text, format] : kSound) {
        EXPECT_EQ(io::read_graph_bytes(text, "g.txt").format, format) << text;
    }
    EXPECT_TRUE(io::read_graph_bytes("0 1 2\n1 2 0\n2 0 1\n", "g.wel").graph.weighted());
}

TEST(NearMisses, InAFolderAreDamageAndNotOtherFiles) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "web.mtx") << "%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
    std::ofstream(folder.path() / "words.txt") << "words\nand words\n";
    const auto scan = io::find_graphs(folder.path());
    ASSERT_EQ(scan.skipped.size(), 2u);
    EXPECT_TRUE(scan.skipped[0].damaged);
    EXPECT_FALSE(scan.skipped[1].damaged);
}

}  // namespace
}  // namespace gnntune::io_near_miss_test
