// Looking before reading: content decides, gzip and xz do not matter, folders list what is and what is not a graph.
#include <gtest/gtest.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/common/expect_has.hpp"
#include "tests/unit/core/io/npz_bytes.hpp"

namespace gnntune::io_find_test {
namespace {

namespace fs = std::filesystem;
using io::Format;

const std::string kMtx = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n1 3\n3 2\n";

std::string gzipped(const std::string& text) {
    return test::deflated(text, 16 + MAX_WBITS);
}

std::string xzipped(const std::string& text) {
    std::string out(lzma_stream_buffer_bound(text.size()), '\0');
    std::size_t size = 0;
    const auto rc =
        lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
    EXPECT_EQ(rc, LZMA_OK);
    out.resize(size);
    return out;
}

std::string problem(const std::string& bytes, const std::string& name = "g") {
    try {
        io::read_graph_bytes(bytes, name);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error for " << name;
    return {};
}

TEST(Sniffing, GoesByContentWhereThatIsUnmistakable) {
    EXPECT_EQ(io::read_graph_bytes(kMtx, "wrong.npz").format, "mtx");
    EXPECT_EQ(io::read_graph_bytes("2 1\n2\n1\n", "wrong.txt").format, "metis");
}

TEST(Sniffing, SeesThroughGzipAndXz) {
    for (const auto& packed : {gzipped(kMtx), xzipped(kMtx), gzipped(kMtx.substr(0, 40)) + gzipped(kMtx.substr(40)),
                               gzipped(kMtx) + std::string(100, '\0')}) {
        const auto g = io::read_graph_bytes(packed, "folder/web.mtx.gz");
        EXPECT_EQ(g.graph.m(), 3);
        EXPECT_EQ(g.name, "web");
    }
}

TEST(Sniffing, TellsDamagedCompressionFromADamagedGraph) {
    std::string text = "%%MatrixMarket matrix coordinate pattern general\n5000 5000 5000\n";
    for (int i = 1; i <= 5000; ++i) text += std::to_string(i) + ' ' + std::to_string(i * 7919 % 5000 + 1) + '\n';
    const std::string gz = gzipped(text);
    const std::string xz = xzipped(text);
    EXPECT_HAS(problem(gz.substr(0, gz.size() / 2)), "cut short");
    EXPECT_HAS(problem(xz.substr(0, xz.size() / 2)), "cut short");
    EXPECT_HAS(problem(gz + "junk"), "follow the gzip data");
    EXPECT_HAS(problem(gzipped(gz)), "compressed twice");
    auto broken = gz;
    broken[gz.size() - 6] = static_cast<char>(broken[gz.size() - 6] ^ 1);
    EXPECT_HAS(problem(broken), "damaged");
}

TEST(Sniffing, SaysWhatAFileIsThatIsNoGraph) {
    EXPECT_HAS(problem(""), "is empty (0 bytes)");
    EXPECT_HAS(problem(gzipped("")), "an empty file");
    EXPECT_HAS(problem("# Title\n\nSome words about graphs.\n"), "line 3 holds 'Some'");
    EXPECT_HAS(problem("1\n2\n1\n"), "lines hold 1 number");
    EXPECT_HAS(problem("1 2 3\n4\n"), "others on line 2");
    EXPECT_HAS(problem("0.1 0.2\n0.3 0.4\n"), "line 1 holds '0.1' where the id of a vertex was expected");
    EXPECT_HAS(problem("1 2 3 4 5\n1 2 3 4 5\n"), "lines hold 5 numbers");
    EXPECT_HAS(problem("# only a comment\n"), "without any numbers");
    EXPECT_HAS(problem("BZh91AY&SY rest"), "compressed with bzip2; unpack it first");
    EXPECT_HAS(problem("\x28\xb5\x2f\xfd rest"), "compressed with Zstandard");
    EXPECT_HAS(problem("\xff\xfe%\1"), "UTF-16");
    EXPECT_HAS(problem("\x80\x04\x95 rest"), "pickle");
    EXPECT_HAS(problem(std::string("abc\0\1\2", 6)), "binary file");
}

class FindGraphs : public testing::Test {
protected:
    void SetUp() override {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() / ("gnntune_find_" + std::to_string(getpid()) + "_" + info->name());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    void put(const fs::path& name, const std::string& bytes) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }

    fs::path folder_;
};

TEST_F(FindGraphs, ATuSetNamesTheValuesOfEdgesThatAreNotRead) {
    put("DS_A.txt", "1, 2\n2, 1\n");
    put("DS_graph_indicator.txt", "1\n1\n");
    EXPECT_EQ(io::read_graph(folder_).fix_ups.text(), "");
    put("DS_edge_labels.txt", "1\n2\n");
    EXPECT_EQ(io::read_graph(folder_).fix_ups.text(), "left out edge_labels: no weights are read from TU");
    put("DS_edge_attributes.txt.gz", gzipped("0.5\n1.5\n"));
    const auto g = io::read_graph(folder_ / "DS_A.txt");
    EXPECT_EQ(g.fix_ups.text(), "left out edge_attributes and edge_labels: no weights are read from TU");
    EXPECT_FALSE(g.graph.weighted());
    io::ReadOptions options;
    options.ignore_weights = true;
    EXPECT_EQ(io::read_graph(folder_, options).fix_ups.text(), "");
}

TEST_F(FindGraphs, ListsGraphsAndReasonsInOrder) {
    put("b.mtx.gz", gzipped(kMtx));
    put("a.txt", "0 1\n1 0\n");
    put("README.md", "# Graphs\nwords\n");
    put("labels.txt", "1\n2\n3\n");
    put(".hidden", kMtx);
    put("deep/c.mtx", kMtx);
    put("deep/er/d.mtx", kMtx);
    put("deep/er/still/e.mtx", kMtx);
    put("tu/DS_A.txt", "1, 2\n2, 1\n");
    put("tu/DS_graph_indicator.txt", "1\n1\n");
    put("broken.mtx.gz", gzipped(kMtx).substr(0, 20));
    const auto scan = io::find_graphs(folder_);
    std::vector<std::string> names;
    for (const auto& found : scan.graphs)
        names.push_back(found.name + ":" + std::string(io::format_name(found.format)));
    EXPECT_EQ(names, (std::vector<std::string>{"a:edges", "b:mtx", "c:mtx", "d:mtx", "DS:tu"}));
    ASSERT_EQ(scan.skipped.size(), 3u);
    EXPECT_EQ(scan.skipped[0].path.filename(), "README.md");
    EXPECT_EQ(scan.skipped[1].path.filename(), "broken.mtx.gz");
    EXPECT_HAS(scan.skipped[1].reason, "cut short");
    EXPECT_TRUE(scan.skipped[1].damaged);
    EXPECT_FALSE(scan.skipped[0].damaged || scan.skipped[2].damaged);
    EXPECT_EQ(scan.skipped[2].path.filename(), "labels.txt");
    for (const auto& skipped : scan.skipped) EXPECT_EQ(skipped.reason.find('\n'), std::string::npos);
    for (const auto& found : scan.graphs) EXPECT_NO_THROW(io::read_graph(found.path)) << found.path;
    EXPECT_EQ(io::find_graphs(folder_, 0).graphs.size(), 2u);
}

TEST_F(FindGraphs, AFolderWithOneGraphIsThatGraph) {
    put("adj_full.txt", "0 1\n1 0\n");
    put("notes.md", "words\n");
    EXPECT_EQ(io::read_graph(folder_).name, "adj_full");
    put("adj_train.txt", "0 1\n");
    try {
        io::read_graph(folder_);
        FAIL() << "two graphs were read as one";
    } catch (const Error& error) {
        EXPECT_HAS(std::string(error.what()), "2 graphs (adj_full.txt, adj_train.txt); name one of them");
    }
}

TEST_F(FindGraphs, MissingAndUnreadableFilesAreNamed) {
    EXPECT_THROW(io::find_graphs(folder_ / "missing"), Error);
    try {
        io::read_graph(folder_ / "missing.mtx");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_EQ(error.what(), (folder_ / "missing.mtx").string() + ": no such file; check the path");
    }
    if (geteuid() == 0) GTEST_SKIP() << "root reads every file";
    put("locked.mtx", kMtx);
    fs::permissions(folder_ / "locked.mtx", fs::perms::none);
    EXPECT_THROW(io::read_graph(folder_ / "locked.mtx"), Error);
}

TEST_F(FindGraphs, SniffFormatLooksIntoArchivesAndFolders) {
    put("g.mtx.xz", xzipped(kMtx));
    EXPECT_EQ(io::sniff_format(folder_ / "g.mtx.xz").format, Format::matrix_market);
    EXPECT_FALSE(io::sniff_format(folder_).format);
    put("x.npz", std::string("PK\x05\x06", 4) + std::string(18, '\0'));
    EXPECT_HAS(io::sniff_format(folder_ / "x.npz").reason, "an archive that holds nothing");
}

TEST(Formats, HaveWordsThatReadBack) {
    for (const auto format :
         {Format::matrix_market, Format::edge_list, Format::npz, Format::tu, Format::metis, Format::gnng}) {
        EXPECT_EQ(io::parse_format(io::format_name(format)), format);
    }
    EXPECT_FALSE(io::parse_format("matrix"));
    EXPECT_EQ(io::format_of_name("a/b.MTX.gz"), Format::matrix_market);
    EXPECT_EQ(io::format_of_name("b.graph"), Format::metis);
    EXPECT_FALSE(io::format_of_name("mtx"));
}

TEST(Formats, AGraphIsCalledAfterItsFileInOneLine) {
    EXPECT_EQ(io::graph_name("a/b.MTX.gz"), "b");
    EXPECT_EQ(io::graph_name("PROTEINS_A.txt"), "PROTEINS");
    EXPECT_EQ(io::graph_name("a/folder/"), "folder");
    EXPECT_EQ(io::graph_name("no.suffix"), "no.suffix");
    EXPECT_EQ(io::graph_name("a\033[31mb\nc\x7f.mtx"), "a_[31mb_c_");
}

}  // namespace
}  // namespace gnntune::io_find_test
