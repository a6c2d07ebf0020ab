// What an .npz holds beside the edges: weights, the number of vertices, features; and single arrays.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/common/expect_has.hpp"
#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/core/io/loaded_graph.hpp"
#include "tests/unit/core/io/npz_bytes.hpp"

namespace gnntune::io_npz_graph_test {
namespace {

using test::array;
using test::cols;
using test::Floats;
using test::floats;
using test::Ints;
using test::ints;
using test::longs;
using test::npy;
using test::rows;
using test::weights;
using test::zip;
using test::Zip;
using Members = std::vector<std::pair<std::string, std::string>>;

/// 0 -> 1, 0 -> 2, 2 -> 1.
Members edge_index(Members more = {}) {
    more.insert(more.begin(), {"edge_index", longs({0, 0, 2, 1, 2, 1}, "(2, 3)")});
    return more;
}

io::LoadedGraph read(const std::string& bytes, const io::ReadOptions& options = {}, const char* name = "g.npz") {
    return io::read_graph_bytes(bytes, name, options);
}

std::string problem(const std::string& bytes, const io::ReadOptions& options = {}, const char* name = "g.npz") {
    try {
        read(bytes, options, name);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

TEST(NpzWeights, AreReadFromEdgeWeightInEveryLayout) {
    const std::string w = floats({5, 6, 7});
    for (const Members& members :
         {edge_index({{"edge_weight", w}}), Members{{"edges", longs({0, 1, 0, 2, 2, 1}, "(3, 2)")}, {"edge_weight", w}},
          Members{{"src", ints({0, 0, 2})}, {"dst", ints({1, 2, 1})}, {"edge_weight", w}},
          Members{{"row", ints({1, 2, 1})}, {"col", ints({0, 0, 2})}, {"edge_weight", w}}}) {
        const auto g = read(zip(members));
        EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3}));
        EXPECT_EQ(weights(g), (Floats{5, 7, 6})) << g.format;
    }
}

TEST(NpzWeights, AreReadFromEdgeAttrOfOneColumnAndSaidSo) {
    for (const char* shape : {"(3,)", "(3, 1)"}) {
        const auto g = read(zip(edge_index({{"edge_attr", array<float>("<f4", {5, 6, 7}, shape)}})));
        EXPECT_EQ(weights(g), (Floats{5, 7, 6}));
        EXPECT_EQ(g.fix_ups.text(), "took edge_attr as weights");
    }
    const auto both = read(zip(edge_index({{"edge_attr", floats({1, 2, 3})}, {"edge_weight", floats({5, 6, 7})}})));
    EXPECT_EQ(weights(both), (Floats{5, 7, 6}));
    EXPECT_EQ(both.fix_ups.text(), "left out edge_attr beside edge_weight");
}

TEST(NpzWeights, ThatCannotBeUsedAreSaid) {
    const auto words = [](const std::string& attr) {
        const auto g = read(zip(edge_index({{"edge_attr", attr}})));
        EXPECT_FALSE(g.graph.weighted());
        return g.fix_ups.text();
    };
    EXPECT_EQ(words(array<float>("<f4", {1, 2, 3, 4, 5, 6}, "(3, 2)")), "left out edge_attr of 2 columns");
    EXPECT_EQ(words(floats({1, 2})), "left out edge_attr of 2 values for 3 entries");
    EXPECT_EQ(words(npy("|O", "(3,)", "xyz")), "left out edge_attr, which holds no numbers that are read");
    EXPECT_HAS(problem(zip(edge_index({{"edge_weight", floats({1, 2})}}))), "has 2 values for 3 entries");
    EXPECT_HAS(problem(zip(edge_index({{"edge_weight", npy("<c8", "(3,)", std::string(24, '\0'))}}))),
               "has type '<c8'");
}

TEST(NpzWeights, UnderNamesThatAreNotReadAreNamed) {
    constexpr const char* kRead = " with a value for each edge: weights are read from edge_weight or edge_attr";
    for (const std::string name : {"weight", "weights", "edge_weights", "w", "edge_attrs", "edge_feat", "edge_features",
                                   "values", "data", "time of day"}) {
        const auto g = read(zip(edge_index({{name, floats({5, 6, 7})}})));
        EXPECT_FALSE(g.graph.weighted());
        EXPECT_EQ(g.fix_ups.text(), "left out " + name + kRead);
    }
    EXPECT_EQ(read(zip(edge_index({{"weight", longs({5, 6, 7})}, {"w", floats({5, 6, 7})}}))).fix_ups.text(),
              std::string("left out w and weight") + kRead);
    EXPECT_EQ(read(zip(edge_index({{"edge_feat", array<float>("<f4", {1, 2, 3, 4, 5, 6}, "(3, 2)")}}))).fix_ups.text(),
              std::string("left out edge_feat") + kRead);
    const auto beside = read(zip(edge_index({{"edge_weight", floats({5, 6, 7})}, {"weights", floats({1, 2, 3})}})));
    EXPECT_EQ(weights(beside), (Floats{5, 7, 6}));
    EXPECT_EQ(beside.fix_ups.text(), std::string("left out weights") + kRead);
    const auto scipy = read(
        zip({{"row", ints({1, 2, 1})}, {"col", ints({0, 0, 2})}, {"shape", longs({3, 3})}, {"w", floats({5, 6, 7})}}));
    EXPECT_EQ(scipy.fix_ups.text(),
              "left out w with a value for each edge: weights are read from data or edge_weight or edge_attr");
    // Nothing may be put into the source of a graph, which is read again.
    EXPECT_EQ(read(zip(edge_index({{"w, merged 3 (as mtx)\x1b", floats({5, 6, 7})}}))).fix_ups.text(),
              std::string("left out w? merged 3 ?as mtx?\\x1b") + kRead);
}

TEST(NpzWeights, NothingIsSaidOfWhatIsNone) {
    io::ReadOptions options;
    options.ignore_weights = true;
    EXPECT_EQ(read(zip(edge_index({{"w", floats({5, 6, 7})}})), options).fix_ups.text(), "");
    // Of vertices, of another length, or no numbers.
    for (const Members& more : {Members{{"x", floats({1, 2, 3})}}, Members{{"y", floats({1, 2, 3})}},
                                Members{{"w", floats({1, 2})}}, Members{{"weight", npy("|O", "(3,)", "xyz")}},
                                Members{{"train_mask", npy("|b1", "(3,)", std::string("\0\1\0", 3))}},
                                Members{{"time", longs({1, 2, 3})}}, Members{{"weight", "no array"}}}) {
        EXPECT_EQ(read(zip(edge_index(more))).fix_ups.text(), "") << more[0].first;
    }
}

TEST(Npz, NamesOfMembersAreMadePrintableAsEverythingIs) {
    const std::string words = problem(zip({{"a\x1b[31m\n\x07", floats({1})}, {"gr\xc3\xbc\xc3\x9f\x65", floats({1})}}));
    EXPECT_HAS(words, "holds a\\x1b[31m\\x0a\\x07, gr\xc3\xbc\xc3\x9f\x65");
}

TEST(NpzWeights, AreNotLookedAtWhereTheyAreIgnored) {
    io::ReadOptions options;
    options.ignore_weights = true;
    for (const std::string& w :
         {floats({1, NAN, INFINITY}), npy("|O", "(3,)", "xyz"), npy("<U1", "(3,)", "abcdefghijkl")}) {
        const auto g = read(zip(edge_index({{"edge_weight", w}})), options);
        EXPECT_FALSE(g.graph.weighted());
        EXPECT_EQ(g.fix_ups.text(), "ignored 3 weights");
    }
}

TEST(Npz, OfTwoMembersOfOneNameTheLastCountsAsInNumPy) {
    Members members = edge_index({{"num_nodes", longs({5}, "()")}, {"num_nodes", longs({4}, "()")}});
    members.emplace_back("edge_index", longs({0, 1}, "(2, 1)"));
    const auto g = read(zip(members));
    EXPECT_EQ(g.graph.n_rows, 4);
    EXPECT_EQ(g.graph.m(), 1);
}

TEST(NpzVertices, LabelsOfEdgesOrOfTheGraphAreNotTakenForVertices) {
    const auto n = [](Members more) { return read(zip(edge_index(std::move(more)))).graph.n_rows; };
    EXPECT_EQ(n({{"y", longs({1})}}), 3);              // a label of the graph
    EXPECT_EQ(n({{"y", longs({1, 0, 1})}}), 3);        // of the edges or of the vertices
    EXPECT_EQ(n({{"y", longs({1, 0, 1, 1, 1})}}), 5);  // of the vertices
    EXPECT_EQ(n({{"y", longs({1}, "()")}}), 3);
    EXPECT_EQ(n({{"labels", longs({1, 0})}}), 3);
    EXPECT_EQ(n({{"y", longs({1})}, {"x", floats({1, 2, 3, 4})}}), 4);
    Members seven{{"edge_index", longs({0, 1, 2, 3, 4, 0, 1, 1, 2, 3, 4, 0, 2, 3}, "(2, 7)")},
                  {"y", longs({0, 0, 0, 0, 0, 0, 0})}};
    EXPECT_EQ(read(zip(seven)).graph.n_rows, 5);
    EXPECT_HAS(problem(zip(edge_index({{"num_nodes", longs({2}, "()")}}))), "holds id 2, outside 0..1");
}

TEST(NpzVertices, MayBeGiven) {
    io::ReadOptions options;
    options.vertices = 6;
    const auto g = read(zip(edge_index({{"num_nodes", longs({4}, "()")}})), options);
    EXPECT_EQ(g.graph.n_rows, 6);
    EXPECT_EQ(g.fix_ups.text(), "set vertices to 6");
    options.vertices = 2;
    EXPECT_HAS(problem(zip(edge_index()), options), "holds id 2, outside 0..1");
}

TEST(NpzVertices, FeaturesAreNotReadSoTheirTypeDoesNotMatter) {
    for (const std::string& x :
         {npy("|O", "(4, 2)", "pickled"), npy(">f4", "(4, 2)", std::string(32, '\0')),
          npy("<c16", "(4, 2)", std::string(128, '\0')), npy("<f4", "(4, 2)", std::string(32, '\0'), true),
          npy("[('a', '<f4')]", "(4,)", std::string(16, '\0')), npy("<f16", "(4,)", std::string(64, '\0'))}) {
        const auto g = read(zip(edge_index({{"x", x}})));
        EXPECT_EQ(g.graph.n_rows, 4);
        EXPECT_EQ(g.graph.m(), 3);
    }
}

TEST(NpzPairs, MayLieInFortranOrder) {
    // numpy.array([(0, 1), (0, 2), (2, 1)]).T is [2, 3] with the pairs one after the other.
    const std::int64_t pairs[] = {0, 1, 0, 2, 2, 1};
    const std::string transposed = npy("<i8", "(2, 3)", {reinterpret_cast<const char*>(pairs), sizeof pairs}, true);
    const std::int64_t lists[] = {0, 0, 2, 1, 2, 1};
    const std::string edges = npy("<i8", "(3, 2)", {reinterpret_cast<const char*>(lists), sizeof lists}, true);
    for (const auto& bytes : {zip({{"edge_index", transposed}}), zip({{"edges", edges}}), transposed, edges}) {
        const auto g = read(bytes);
        EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3}));
        EXPECT_EQ(cols(g), (Ints{0, 2, 0}));
    }
}

TEST(NpzPairs, ListsAreCalledAsTheListOfFormatsSays) {
    for (const char* suffix : {"", "_li"}) {
        const std::string end(suffix);
        const auto g = read(zip({{"src" + end, ints({0, 0, 2})}, {"dst" + end, ints({1, 2, 1})}}));
        EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3}));
        EXPECT_EQ(g.format, "npz/src-dst");
    }
}

TEST(Npy, IsReadWhereItIsAnEdgeIndexAndRefusedByNameElse) {
    const auto g = read(longs({0, 0, 2, 1, 2, 1}, "(2, 3)"), {}, "web.npy");
    EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3}));
    EXPECT_EQ(cols(g), (Ints{0, 2, 0}));
    EXPECT_EQ(g.format, "npy/edge_index");
    EXPECT_EQ(g.name, "web");
    EXPECT_EQ(read(longs({0, 1, 0, 2, 2, 1}, "(3, 2)"), {}, "g.npy").format, "npy/edges");
    EXPECT_HAS(problem(longs({0, 1, 1, 0}, "(2, 2)")), "a single NumPy array of shape (2, 2)");
    EXPECT_HAS(problem(longs({0, 1, 1, 0})), "a single NumPy array of shape (4)");
    EXPECT_HAS(problem(array<float>("<f4", {0, 1, 2, 3, 4, 5}, "(2, 3)")), "shape (2, 3) and no whole numbers");
    EXPECT_HAS(problem(std::string("\x93NUMPY\x01\x00 rest", 13)), "is no graph");
    EXPECT_HAS(problem(longs({0, 1, -1, 1, 2, 3}, "(2, 3)")), "element 2 is -1");
}

TEST(PyTorchFiles, GetTheLineThatSavesThemAsNpz) {
    const test::TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& bytes) {
        std::ofstream(folder.path() / name, std::ios::binary) << bytes;
        return folder.path() / name;
    };
    std::string archive = zip({{"data/data", "pickled"}});
    for (std::size_t at; (at = archive.find("data/data.npy")) != std::string::npos;)
        archive.replace(at, 13, "data/data.pkl");
    const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.rest", 19);
    for (const auto& path : {write("data.pt", archive), write("old.pt", magic), write("data.pth", "\x80\x04 rest")}) {
        const auto sniffed = io::sniff_format(path);
        EXPECT_FALSE(sniffed.format);
        const std::string to = std::filesystem::path(path).replace_extension(".npz").string();
        EXPECT_HAS(sniffed.reason, "python3 -c \"import numpy, torch; d = torch.load('" + path.string() + "'");
        EXPECT_HAS(sniffed.reason, "numpy.savez('" + to + "', edge_index=");
    }
    EXPECT_HAS(io::sniff_format(write("it's.pt", archive)).reason, "torch.load('FILE.pt'");
}

}  // namespace
}  // namespace gnntune::io_npz_graph_test
