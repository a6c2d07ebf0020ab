// Graphs of more than 2^31 entries: which files hold them, and what those say that do not.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "core/common/error.hpp"
#include "core/io/gnng.hpp"
#include "core/io/wide_graph.hpp"
#include "tests/unit/common/expect_has.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/core/io/npz_bytes.hpp"

namespace gnntune::io_wide_test {
namespace {

using io::WideCsrGraph;
using test::floats;
using test::ints;
using test::longs;
using test::zip;

constexpr std::int64_t kMany = 3'000'000'000;

class WideGraph : public testing::Test {
protected:
    std::filesystem::path put(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
        return folder_.path() / name;
    }
    std::string bytes_of(const std::filesystem::path& path) const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    template <typename Read>
    static std::string refusal(ErrorKind kind, Read&& read) {
        try {
            read();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), kind) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "nothing was refused";
        return {};
    }
    static WideCsrGraph wide_of(const CsrGraph& graph) {
        WideCsrGraph wide;
        wide.n_rows = graph.n_rows;
        wide.n_cols = graph.n_cols;
        wide.row_ptr.assign(graph.row_ptr.begin(), graph.row_ptr.end());
        wide.col_idx = graph.col_idx;
        wide.edge_weight = graph.edge_weight;
        return wide;
    }
    static void expect_same(const WideCsrGraph& got, const WideCsrGraph& expected) {
        EXPECT_EQ(got.n_rows, expected.n_rows);
        EXPECT_EQ(got.n_cols, expected.n_cols);
        EXPECT_EQ(got.row_ptr, expected.row_ptr);
        EXPECT_EQ(got.col_idx, expected.col_idx);
        EXPECT_EQ(got.edge_weight, expected.edge_weight);
    }

    test::TemporaryFolder folder_;
};

TEST_F(WideGraph, IsReadBackAsItWasWritten) {
    for (const auto& [name, csr] : test::awkward_graphs()) {
        SCOPED_TRACE(name);
        WideCsrGraph wide = wide_of(csr);
        for (const bool weighted : {false, true}) {
            if (weighted) {
                wide.edge_weight.resize(wide.col_idx.size());
                for (std::size_t e = 0; e < wide.edge_weight.size(); ++e)
                    wide.edge_weight[e] = 0.5F * static_cast<float>(e % 7) - 1;
            }
            const auto path = folder_.path() / "g.gnng";
            io::write_wide_graph(path, wide);
            expect_same(io::read_wide_graph(path), wide);
            expect_same(io::read_wide_graph_bytes(bytes_of(path), "g.gnng"), wide);
            // With so few entries it is an ordinary graph too, of the same fingerprint.
            CsrGraph sorted = csr;
            sort_columns(sorted);
            const auto narrow = io::read_graph(path);
            EXPECT_EQ(narrow.graph.col_idx, sorted.col_idx);
            EXPECT_EQ(fingerprint(narrow.graph.view()), fingerprint(wide.view()));
            // And an ordinary file is a wide graph.
            io::write_graph(path, narrow.graph, io::Format::gnng);
            EXPECT_EQ(io::read_wide_graph(path).row_ptr, wide.row_ptr);
        }
    }
}

TEST_F(WideGraph, ReadsScipysCsrWithOffsetsOfEitherWidth) {
    for (const bool wide : {false, true}) {
        const auto path = put("g.npz", zip({{"indptr", wide ? longs({0, 2, 2, 3}) : ints({0, 2, 2, 3})},
                                            {"indices", wide ? longs({3, 0, 1}) : ints({3, 0, 1})},
                                            {"format", test::array<char>("|S3", {'c', 's', 'r'}, "()")},
                                            {"shape", longs({3, 4})},
                                            {"data", floats({1, -2, 3})}}));
        const WideCsrGraph g = io::read_wide_graph(path);
        EXPECT_EQ(g.n_rows, 3);
        EXPECT_EQ(g.n_cols, 4);
        EXPECT_EQ(g.row_ptr, (HostVector<std::int64_t>{0, 2, 2, 3}));
        EXPECT_EQ(g.col_idx, (HostVector<std::int32_t>{3, 0, 1})) << "as the file has them";
        EXPECT_EQ(g.edge_weight, (HostVector<float>{1, -2, 3}));
        io::ReadOptions options;
        options.ignore_weights = true;
        EXPECT_TRUE(io::read_wide_graph(path, options).edge_weight.empty());
    }
}

// A file whose weights are of another length was not written whole. Their types do not matter where they are ignored.
TEST_F(WideGraph, WeightsOfAnotherLengthAreRefusedAlsoWhereTheyAreIgnored) {
    const auto with = [&](const std::string& data) {
        return put("g.npz", zip({{"indptr", longs({0, 2, 3})}, {"indices", ints({0, 1, 1})}, {"data", data}}));
    };
    for (const bool ignored : {false, true}) {
        SCOPED_TRACE(ignored ? "ignored" : "read");
        io::ReadOptions options;
        options.ignore_weights = ignored;
        const auto words = [&](const std::string& data) {
            return refusal(ErrorKind::input, [&] { io::read_wide_graph(with(data), options); });
        };
        EXPECT_HAS(words(floats({5, 6})),
                   "g.npz member data.npy: has 2 values for 3 entries (8 bytes of data), expected one for each");
        EXPECT_HAS(words(floats({5, 6, 7, 8})), "has 4 values for 3 entries (16 bytes of data)");
        EXPECT_HAS(words(test::npy("<f4", "(3,)", "12345678")),
                   "has 8 bytes of data, but its header promises 3 elements of 4 bytes");
        EXPECT_EQ(io::read_wide_graph(with(floats({5, 6, 7})), options).edge_weight.empty(), ignored);
    }
    io::ReadOptions options;
    options.ignore_weights = true;
    EXPECT_EQ(io::read_wide_graph(with(test::npy("|O", "(3,)", "xyz")), options).m(), 3);
}

TEST_F(WideGraph, OtherFormatsAreReadAsFarAsTheyGo) {
    EXPECT_EQ(io::read_wide_graph(put("g.txt", "0 1\n1 2\n2 0\n2 0\n")).m(), 4);
    const auto csc = put("g.npz", zip({{"indptr", ints({0, 1, 2})},
                                       {"indices", ints({1, 0})},
                                       {"format", test::array<char>("|S3", {'c', 's', 'c'}, "()")},
                                       {"shape", longs({2, 2})}}));
    EXPECT_EQ(io::read_wide_graph(csc).m(), 2);
    io::ReadOptions options;
    options.reverse = true;
    const auto path =
        put("h.npz", zip({{"indptr", ints({0, 2, 2})}, {"indices", ints({0, 1})}, {"shape", longs({2, 2})}}));
    EXPECT_EQ(io::read_wide_graph(path, options).row_ptr, (HostVector<std::int64_t>{0, 1, 2}));
}

// What has too many entries says which files hold them, before anything of that size is allocated.
TEST_F(WideGraph, ReadersOfListsNameTheFormatsThatHoldMore) {
    const auto mtx = put("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n5 5 3000000000\n1 1\n");
    for (const bool wide : {false, true}) {
        const std::string words = refusal(ErrorKind::unsupported, [&] {
            if (wide) {
                io::read_wide_graph(mtx);
            } else {
                io::read_graph(mtx);
            }
        });
        EXPECT_HAS(words, "3000000000 entries");
        EXPECT_HAS(words, "save the graph as .gnng, or as .npz with scipy's CSR");
    }
}

TEST_F(WideGraph, AHeaderOfManyEntriesIsBelievedWhenTheFileHasThem) {
    io::gnng::Header header;
    io::gnng::kMagic.copy(header.magic, sizeof header.magic);
    header.flags = io::gnng::kWideOffsets;
    header.n_rows = header.n_cols = 3;
    header.m = kMany;
    io::gnng::lay_out(header);
    EXPECT_EQ(header.col_idx, 192U) << "behind 128 bytes and four offsets of 8 bytes";
    EXPECT_EQ(header.file_bytes, 192U + 4 * static_cast<std::uint64_t>(kMany));
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.resize(4096);
    const auto path = put("g.gnng", bytes);
    EXPECT_HAS(refusal(ErrorKind::unsupported, [&] { io::read_graph(path); }), "read_wide_graph");
    EXPECT_HAS(refusal(ErrorKind::input, [&] { io::read_wide_graph(path); }),
               "has 4096 bytes, too few for the 3000000000 entries of its header");
    // Sizes whose product with 4 overflows.
    header.m = std::numeric_limits<std::int64_t>::max();
    std::memcpy(bytes.data(), &header, sizeof header);
    EXPECT_HAS(refusal(ErrorKind::input, [&] { io::read_wide_graph(put("g.gnng", bytes)); }), "too few for the");
}

TEST_F(WideGraph, EveryTouchedByteIsFoundOut) {
    CsrGraph csr = test::csr_of(7, 7, test::random_edges(7, 7, 30, 1, 3));
    const auto path = folder_.path() / "g.gnng";
    io::write_wide_graph(path, wide_of(csr));
    const std::string sound = bytes_of(path);
    for (std::size_t at = 0; at < sound.size(); ++at) {
        std::string touched = sound;
        touched[at] = static_cast<char>(touched[at] ^ 4);
        const auto broken = put("b.gnng", touched);
        EXPECT_ANY_THROW(io::read_wide_graph(broken)) << "byte " << at;
        EXPECT_ANY_THROW(io::read_graph(broken)) << "byte " << at;
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{50}, std::size_t{128}, sound.size() - 1}) {
        EXPECT_ANY_THROW(io::read_wide_graph(put("b.gnng", sound.substr(0, size)))) << size;
    }
}

TEST_F(WideGraph, ArraysThatAreNoGraphAreRefused) {
    const auto npz = [&](const std::string& indptr, const std::string& indices) {
        const auto path = put("g.npz", zip({{"indptr", indptr}, {"indices", indices}, {"shape", longs({2, 4})}}));
        return refusal(ErrorKind::input, [&] { io::read_wide_graph(path); });
    };
    EXPECT_HAS(npz(longs({0, 2, 4}), ints({0, 1, 2})), "row_ptr ends at 4");
    EXPECT_HAS(npz(longs({0, kMany, 3}), ints({0, 1, 2})), "row_ptr falls from 3000000000");
    EXPECT_HAS(npz(longs({0, 2, 3}), ints({0, 1, 4})), "col_idx[2] is 4, expected 0 to 3");
    EXPECT_HAS(npz(longs({0, 3}), ints({0, 1, 2})), "has 2 offsets, but the shape 2 x 4 asks for 3");
    WideCsrGraph g;
    g.n_rows = g.n_cols = 1;
    g.row_ptr = {0, 2};
    g.col_idx = {0};
    EXPECT_HAS(refusal(ErrorKind::input, [&] { io::write_wide_graph(folder_.path() / "w.gnng", g); }),
               "row_ptr ends at 2");
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "w.gnng"));
}

}  // namespace
}  // namespace gnntune::io_wide_test
