// NumPy archives, written here byte by byte: every layout, every element type, and archives that lie.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/common/expect_has.hpp"
#include "tests/unit/core/io/loaded_graph.hpp"
#include "tests/unit/core/io/npz_bytes.hpp"

namespace gnntune::io_npz_test {
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

std::vector<std::pair<std::string, std::string>> scipy_csr(const std::string& data = floats({1, 2, 3})) {
    return {{"format", npy("|S3", "()", "csr")},
            {"shape", longs({3, 4})},
            {"indptr", ints({0, 2, 2, 3})},
            {"indices", ints({1, 3, 1})},
            {"data", data}};
}

io::LoadedGraph read(const std::string& bytes, const io::ReadOptions& options = {}) {
    return io::read_graph_bytes(bytes, "g.npz", options);
}

std::string problem(const std::string& bytes, ErrorKind kind = ErrorKind::input) {
    try {
        read(bytes);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        EXPECT_EQ(std::string(error.what()).substr(0, 5), "g.npz");
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

TEST(Npz, ReadsScipyCsrStoredDeflatedAndWithZip64) {
    for (const bool deflate : {false, true}) {
        for (const bool zip64 : {false, true}) {
            Zip how;
            how.deflate = deflate;
            how.zip64 = zip64;
            const auto g = read(zip(scipy_csr(), how));
            EXPECT_EQ(g.graph.n_rows, 3);
            EXPECT_EQ(g.graph.n_cols, 4);
            EXPECT_EQ(rows(g), (Ints{0, 2, 2, 3}));
            EXPECT_EQ(cols(g), (Ints{1, 3, 1}));
            EXPECT_EQ(weights(g), (Floats{1, 2, 3}));
            EXPECT_EQ(g.format, "npz/scipy-csr");
        }
    }
}

TEST(Npz, FindsTheDirectoryBeforeAComment) {
    Zip how;
    how.comment = "a comment that holds PK\x05\x06 itself, to lead a careless reader astray";
    EXPECT_EQ(read(zip(scipy_csr(), how)).graph.m(), 3);
}

TEST(Npz, SortsColumnsThatAreNot) {
    auto members = scipy_csr();
    members[3].second = ints({3, 1, 1});
    const auto g = read(zip(members));
    EXPECT_EQ(cols(g), (Ints{1, 3, 1}));
    EXPECT_EQ(weights(g), (Floats{2, 1, 3}));
}

TEST(Npz, ReadsCscAndCooWithTheSameDirection) {
    const auto csc = read(zip({{"format", npy("<U3", "()", std::string("c\0\0\0s\0\0\0c\0\0\0", 12))},
                               {"shape", longs({3, 4})},
                               {"indptr", ints({0, 0, 2, 2, 3})},
                               {"indices", ints({0, 2, 0})},
                               {"data", floats({1, 3, 2})}}));
    const auto coo = read(zip({{"format", npy("|S3", "()", "coo")},
                               {"shape", longs({3, 4})},
                               {"row", longs({2, 0, 0})},
                               {"col", longs({1, 3, 1})},
                               {"data", floats({3, 2, 1})}}));
    for (const auto* g : {&csc, &coo}) {
        EXPECT_EQ(rows(*g), (Ints{0, 2, 2, 3}));
        EXPECT_EQ(cols(*g), (Ints{1, 3, 1}));
        EXPECT_EQ(weights(*g), (Floats{1, 2, 3}));
    }
    EXPECT_EQ(csc.format, "npz/scipy-csc");
    EXPECT_EQ(coo.format, "npz/scipy-coo");
}

TEST(Npz, ReadsPygArchivesWithFeaturesBeside) {
    const auto g = read(zip({{"adj_data", floats({1, 1, 1})},
                             {"adj_indices", ints({1, 2, 1})},
                             {"adj_indptr", ints({0, 2, 2, 3})},
                             {"adj_shape", longs({3, 3})},
                             {"attr_data", floats({9})},
                             {"labels", longs({0, 1, 2})}}));
    EXPECT_EQ(rows(g), (Ints{0, 2, 2, 3}));
    EXPECT_EQ(cols(g), (Ints{1, 2, 1}));
    EXPECT_FALSE(g.graph.weighted());
    EXPECT_EQ(g.fix_ups.text(), "dropped 3 weights, which are all 1");
    EXPECT_EQ(g.format, "npz/pyg");
}

TEST(Npz, PairsAndListsMeanSourceThenTarget) {
    const auto edges =
        read(zip({{"edges", longs({0, 1, 0, 2, 2, 1}, "(3, 2)")}, {"node_labels", longs({0, 0, 0, 0})}}));
    const auto index =
        read(zip({{"edge_index", longs({0, 0, 2, 1, 2, 1}, "(2, 3)")}, {"num_nodes", longs({4}, "()")}}));
    const auto lists =
        read(zip({{"src_li", ints({0, 0, 2})}, {"dst_li", ints({1, 2, 1})}, {"num_nodes", ints({4}, "()")}}));
    for (const auto* g : {&edges, &index, &lists}) {
        EXPECT_EQ(rows(*g), (Ints{0, 0, 2, 3, 3})) << g->format;
        EXPECT_EQ(cols(*g), (Ints{0, 2, 0})) << g->format;
    }
    EXPECT_EQ(read(zip({{"edges", longs({0, 1}, "(1, 2)")}})).graph.n_rows, 2);
}

TEST(Npz, NarrowsEveryIntegerType) {
    const auto with = [](const std::string& indices) {
        auto members = scipy_csr();
        members[3].second = indices;
        return cols(read(zip(members)));
    };
    EXPECT_EQ(with(array<std::int8_t>("|i1", {1, 3, 1})), (Ints{1, 3, 1}));
    EXPECT_EQ(with(array<std::uint8_t>("|u1", {1, 3, 1})), (Ints{1, 3, 1}));
    EXPECT_EQ(with(array<std::int16_t>("<i2", {1, 3, 1})), (Ints{1, 3, 1}));
    EXPECT_EQ(with(array<std::uint16_t>("<u2", {1, 3, 1})), (Ints{1, 3, 1}));
    EXPECT_EQ(with(array<std::uint32_t>("<u4", {1, 3, 1})), (Ints{1, 3, 1}));
    EXPECT_EQ(with(array<std::int64_t>("<i8", {1, 3, 1})), (Ints{1, 3, 1}));
    EXPECT_EQ(with(array<std::uint64_t>("<u8", {1, 3, 1})), (Ints{1, 3, 1}));
    EXPECT_EQ(with(array<std::uint8_t>("|b1", {1, 0, 1})), (Ints{0, 1, 1}));
}

TEST(Npz, ConvertsEveryKindOfWeight) {
    const auto with = [](const std::string& data) { return weights(read(zip(scipy_csr(data)))); };
    EXPECT_EQ(with(array<double>("<f8", {0.5, -2, 1e-300})), (Floats{0.5f, -2, 0}));
    EXPECT_EQ(with(array<std::uint16_t>("<f2", {0x3800, 0xc000, 0x0001})), (Floats{0.5f, -2, 5.9604645e-8f}));
    EXPECT_EQ(with(array<std::int64_t>("<i8", {1, -7, 3})), (Floats{1, -7, 3}));
    EXPECT_EQ(with(array<std::uint8_t>("|b1", {1, 0, 1})), (Floats{1, 0, 1}));
    const auto bad = [](const std::string& data) { return problem(zip(scipy_csr(data))); };
    EXPECT_HAS(bad(array<float>("<f4", {1, NAN, 1})), "member data.npy: element 1 is not a finite float");
    EXPECT_HAS(bad(array<double>("<f8", {1, 1, 1e300})), "element 2 is 1e+300, expected a number that float32 holds");
    EXPECT_HAS(bad(array<double>("<f8", {1, 1, INFINITY})), "element 2 is not a finite float");
    EXPECT_HAS(bad(array<std::uint16_t>("<f2", {0x7c00, 0, 0})), "element 0");
    EXPECT_HAS(bad(floats({1, 2})), "has 2 values for 3 entries");
}

TEST(Npz, NamesWeightsThatFloat32DoesNotHold) {
    const auto with = [](const std::string& data) { return read(zip(scipy_csr(data))).fix_ups.text(); };
    constexpr std::int64_t kLarge = std::int64_t{1} << 62;
    EXPECT_EQ(with(array<std::int64_t>("<i8", {16777217, kLarge, kLarge + 1})),
              "rounded 2 whole weights beyond 2^24 to float32");
    EXPECT_EQ(with(array<std::uint32_t>("<u4", {16777217, 16777218, 1})),
              "rounded 1 whole weight beyond 2^24 to float32");
    EXPECT_EQ(with(array<double>("<f8", {1e-50, 0, 16777217})),
              "rounded 1 whole weight beyond 2^24 to float32, zeroed 1 weight too small for float32");
    EXPECT_EQ(with(array<double>("<f8", {0.1, 1e20, 16777216})), "") << "as every file has them";
    io::ReadOptions options;
    options.ignore_weights = true;
    EXPECT_EQ(io::read_graph_bytes(zip(scipy_csr(array<std::int64_t>("<i8", {16777217, 1, 2}))), "g.npz", options)
                  .fix_ups.text(),
              "ignored 3 weights");
}

TEST(Npz, ReadsNewerArrayHeaders) {
    auto members = scipy_csr();
    const std::int32_t indices[] = {1, 3, 1};
    members[3].second = npy("<i4", "(3,)", std::string(reinterpret_cast<const char*>(indices), 12), false, 2);
    EXPECT_EQ(cols(read(zip(members))), (Ints{1, 3, 1}));
}

TEST(Npz, RefusesArraysThatItCannotReadInWords) {
    const auto with = [](const std::string& indices) {
        auto members = scipy_csr();
        members[3].second = indices;
        return problem(zip(members));
    };
    EXPECT_HAS(with(npy("|O", "(3,)", "xyz")), "Python objects");
    EXPECT_HAS(with(npy(">i4", "(3,)", std::string(12, '\0'))), "big-endian");
    EXPECT_HAS(with(floats({1, 3, 1})), "expected whole numbers");
    EXPECT_HAS(with(npy("<c8", "(3,)", std::string(24, '\0'))), "has type '<c8'");
    EXPECT_HAS(with(npy("|S3", "(1,)", "abc")), "holds text");
    EXPECT_HAS(with(longs({1, 5000000000, 1})), "element 1 is 5000000000, outside 0..2147483647");
    EXPECT_HAS(with(ints({1, -3, 1})), "element 1 is -3, outside");
    EXPECT_HAS(with(ints({1, 3, 1}, "(3, 1)")), "has 2 dimensions, expected 1");
    EXPECT_HAS(with(ints({1, 3, 1}, "(4,)")), "promises 4 elements");
    EXPECT_HAS(with(ints({1, 3, 1}, "(9999999999, 9999999999, 9999999999)")), "more elements than can exist");
    EXPECT_HAS(with("not an array at all"), "is no NumPy array");
    EXPECT_HAS(problem(zip({{"edges", longs({0, 1, 2}, "(1, 3)")}})), "[m, 2]");
}

TEST(Npz, ChecksTheMatrixItself) {
    const auto with = [](std::size_t member, const std::string& content) {
        auto members = scipy_csr();
        members[member].second = content;
        return problem(zip(members));
    };
    EXPECT_HAS(with(0, npy("|S3", "()", "bsr")), "format 'bsr'");
    EXPECT_HAS(with(1, longs({2, 4})), "has 4 offsets, but the shape 2 x 4 asks for 3");
    EXPECT_HAS(with(1, longs({-3, 4})), "must not be negative");
    EXPECT_HAS(with(2, ints({0, 2, 1, 3})), "indptr falls from 2 to 1");
    EXPECT_HAS(with(2, ints({0, 2, 2, 4})), "indptr ends with 4, but indices holds 3");
    EXPECT_HAS(with(2, ints({1, 2, 2, 3})), "indptr starts with 1");
    EXPECT_HAS(with(3, ints({1, 4, 1})), "indices[1] is 4, outside 0..3");
    EXPECT_HAS(problem(zip({{"src_li", ints({0, 5})}, {"dst_li", ints({1, 1})}, {"num_nodes", ints({4}, "()")}})),
               "holds id 5, outside 0..3");
    EXPECT_HAS(problem(zip({{"src_li", ints({0, 5})}, {"dst_li", ints({1})}})),
               "2 elements in src_li, but 1 in dst_li");
    EXPECT_HAS(problem(zip({{"row", ints({0})}, {"col", ints({0})}, {"shape", longs({2000000000, 2})}})),
               "claims 2000000000 vertices");
    EXPECT_HAS(problem(zip({{"row", ints({0})}, {"col", ints({0})}, {"shape", longs({3000000000, 2})}}),
                       ErrorKind::unsupported),
               "3000000000 x 2 exceeds the int32 formats, which hold 2^31-2 rows and columns; leave out the rows");
}

TEST(Npz, NamesTheKeysOfAnArchiveWithoutAGraph) {
    const std::string words = problem(zip({{"labels", longs({1})}, {"train_mask", longs({1})}}));
    EXPECT_HAS(words, "is no graph: an archive that holds labels, train_mask; expected indptr and indices");
    EXPECT_HAS(problem(zip({})), "is no graph");
}

TEST(Npz, RefusesArchivesThatLie) {
    const auto with = [](auto change) {
        Zip how;
        how.deflate = true;
        change(how);
        return problem(zip(scipy_csr(), how));
    };
    EXPECT_HAS(with([](Zip& how) { how.flags = 1; }), "is encrypted");
    EXPECT_HAS(with([](Zip& how) { how.method = 12; }), "compressed by method 12");
    EXPECT_HAS(with([](Zip& how) { how.crc_xor = 1; }), "checksum is wrong");
    EXPECT_HAS(with([](Zip& how) { how.extra_size = 1 << 30; }), "cannot hold");
    EXPECT_HAS(with([](Zip& how) { how.method = 0; }), "cannot hold");
    EXPECT_HAS(with([](Zip& how) { how.zip64 = true, how.extra_size = 1ull << 60; }), "cannot hold");
}

TEST(Npz, IsNeverCrashedByAMissingEndOrAChangedByte) {
    for (const bool zip64 : {false, true}) {
        Zip how;
        how.deflate = how.zip64 = zip64;
        const std::string bytes = zip(scipy_csr(), how);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            EXPECT_THROW(read(bytes.substr(0, i)), Error) << i;
            std::string changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ 0xff);
            try {
                read(changed);
            } catch (const Error&) {
            }
        }
    }
}

}  // namespace
}  // namespace gnntune::io_npz_test
