// What is written is read back the same; .gnng files that were touched are found out.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/io/detail/output.hpp"
#include "core/io/gnng.hpp"
#include "core/io/graph_io.hpp"

namespace gnntune::io_write_test {
namespace {

using io::Format;

class WriteGraph : public testing::Test {
protected:
    void SetUp() override {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ =
            std::filesystem::temp_directory_path() / ("gnntune_write_" + std::to_string(getpid()) + "_" + info->name());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void expect_same_back(const CsrGraph& graph, const std::string& name, Format format) const {
        SCOPED_TRACE(name);
        io::write_graph(folder_ / name, graph, format);
        const auto back = io::read_graph(folder_ / name);
        EXPECT_EQ(back.graph.n_rows, graph.n_rows);
        EXPECT_EQ(back.graph.n_cols, graph.n_cols);
        EXPECT_EQ(back.graph.row_ptr, graph.row_ptr);
        EXPECT_EQ(back.graph.col_idx, graph.col_idx);
        EXPECT_EQ(back.graph.edge_weight, graph.edge_weight);
        EXPECT_EQ(fingerprint(back.graph.view()), fingerprint(graph.view()));
        EXPECT_EQ(back.name, "g");
        EXPECT_TRUE(back.original_ids.empty());
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            EXPECT_NE(entry.path().extension(), ".part") << "a temporary file was left";
        }
    }

    std::string bytes_of(const std::string& name) const {
        std::ifstream file(folder_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::filesystem::path folder_;
};

CsrGraph graph_of(std::int32_t n_rows, std::int32_t n_cols, HostVector<std::int32_t> row_ptr,
                  HostVector<std::int32_t> col_idx, HostVector<float> edge_weight = {}) {
    CsrGraph g;
    g.n_rows = n_rows;
    g.n_cols = n_cols;
    g.row_ptr = std::move(row_ptr);
    g.col_idx = std::move(col_idx);
    g.edge_weight = std::move(edge_weight);
    return g;
}

CsrGraph directed() {
    return graph_of(4, 4, {0, 2, 2, 3, 3}, {1, 2, 1});
}
CsrGraph weighted() {
    return graph_of(4, 4, {0, 2, 2, 3, 3}, {1, 2, 1}, {0.1f, -3e-39f, 1.0f / 3});
}
CsrGraph rectangular() {
    return graph_of(2, 5, {0, 3, 4}, {0, 4, 4, 2});
}
CsrGraph symmetric() {
    return graph_of(4, 4, {0, 1, 3, 4, 4}, {1, 0, 2, 1});
}

TEST_F(WriteGraph, EveryFormatGivesADirectedThreeEdgeGraphBack) {
    for (const auto& graph : {directed(), weighted()}) {
        expect_same_back(graph, "g.mtx", Format::matrix_market);
        expect_same_back(graph, "g.txt", Format::edge_list);
        expect_same_back(graph, "g.npz", Format::npz);
        expect_same_back(graph, "g.gnng", Format::gnng);
    }
}

TEST_F(WriteGraph, MatrixFormatsGiveARectangularGraphWithDuplicatesBack) {
    expect_same_back(rectangular(), "g.mtx", Format::matrix_market);
    expect_same_back(rectangular(), "g.npz", Format::npz);
    expect_same_back(rectangular(), "g.gnng", Format::gnng);
    EXPECT_THROW(io::write_graph(folder_ / "g.txt", rectangular(), Format::edge_list), Error);
}

TEST_F(WriteGraph, FollowsLinksAndLeavesDevicesAndPipesAlone) {
    CsrGraph graph;
    graph.n_rows = graph.n_cols = 1;
    graph.row_ptr = {0, 1};
    graph.col_idx = {0};
    std::filesystem::create_symlink(folder_ / "target.mtx", folder_ / "link.mtx");

    io::write_graph(folder_ / "link.mtx", graph, io::Format::matrix_market);

    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.mtx"));
    EXPECT_TRUE(std::filesystem::is_regular_file(folder_ / "target.mtx"));
    std::filesystem::create_directory(folder_ / "folder.mtx");
    EXPECT_THROW(io::write_graph(folder_ / "folder.mtx", graph, io::Format::matrix_market), Error);
    EXPECT_THROW(io::write_graph("/dev/null", graph, io::Format::matrix_market), Error);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(WriteGraph, AProcessThatIsKilledWhileItWritesLeavesNothing) {
    const int unnamed = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
    if (unnamed < 0) GTEST_SKIP() << "the file system has no files without a name";
    ::close(unnamed);
    for (const char* name : {"g.mtx", "g.mtx.gz"}) {
        const pid_t child = fork();
        if (child == 0) {
            io::detail::Output out(folder_ / name);
            const std::string line(1 << 12, 'x');
            for (int i = 0; i < 1000; ++i) out.write(line);
            raise(SIGKILL);
        }
        int status = 0;
        waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        EXPECT_TRUE(std::filesystem::is_empty(folder_)) << name;
        io::write_graph(folder_ / "over.mtx", directed(), Format::matrix_market);
        io::write_graph(folder_ / "over.mtx", weighted(), Format::matrix_market);  // takes the place of the other
        EXPECT_EQ(io::read_graph(folder_ / "over.mtx").graph.edge_weight, weighted().edge_weight);
        std::filesystem::remove(folder_ / "over.mtx");
    }
}

TEST_F(WriteGraph, GraphsWithoutEdgesOrVerticesComeBack) {
    for (const auto& graph : {graph_of(3, 3, {0, 0, 0, 0}, {}), graph_of(0, 0, {0}, {})}) {
        expect_same_back(graph, "g.mtx", Format::matrix_market);
        expect_same_back(graph, "g.txt", Format::edge_list);
        expect_same_back(graph, "g.npz", Format::npz);
        expect_same_back(graph, "g.gnng", Format::gnng);
        expect_same_back(graph, "g.graph", Format::metis);
    }
}

TEST_F(WriteGraph, MetisTakesSymmetricGraphsOnly) {
    expect_same_back(symmetric(), "g.graph", Format::metis);
    auto whole = symmetric();
    whole.edge_weight = {3, 3, 7, 7};
    expect_same_back(whole, "g.graph", Format::metis);
    const auto refused = [&](const CsrGraph& graph, const std::string& word) {
        try {
            io::write_graph(folder_ / "refused.graph", graph, Format::metis);
            ADD_FAILURE() << "no error about " << word;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::unsupported);
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
        EXPECT_FALSE(std::filesystem::exists(folder_ / "refused.graph"));
    };
    refused(directed(), "symmetric");
    refused(rectangular(), "square");
    refused(graph_of(1, 1, {0, 1}, {0}), "self loops");
    refused(graph_of(2, 2, {0, 2, 4}, {1, 1, 0, 0}), "duplicate");
    whole.edge_weight = {0.5f, 0.5f, 7, 7};
    refused(whole, "whole numbers");
    whole.edge_weight = {3, 4, 7, 7};
    refused(whole, "one weight for both directions of an edge; gnntune convert mends that with --ignore-weights");
}

TEST_F(WriteGraph, MetisNamesTheOptionsThatMendAGraphAllAtOnce) {
    const auto graph = graph_of(3, 3, {0, 1, 3, 4}, {0, 0, 0, 1}, {0.5f, 1, 1, 1});
    io::write_graph(folder_ / "g.mtx", graph, Format::matrix_market);
    try {
        io::write_graph(folder_ / "g.graph", graph, Format::metis);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what())
                      .find("gnntune convert mends that with --remove-self-loops --merge-duplicates --symmetric "
                            "--ignore-weights, or write it as mtx, npz or gnng"),
                  std::string::npos)
            << error.what();
    }
    io::ReadOptions options;
    options.remove_self_loops = options.merge_duplicates = options.make_symmetric = options.ignore_weights = true;
    expect_same_back(io::read_graph(folder_ / "g.mtx", options).graph, "g.graph", Format::metis);
}

TEST_F(WriteGraph, ANameThatEndsInGzIsCompressed) {
    expect_same_back(directed(), "g.mtx.gz", Format::matrix_market);
    expect_same_back(directed(), "g.npz.gz", Format::npz);
    expect_same_back(weighted(), "g.gnng.gz", Format::gnng);
    EXPECT_EQ(bytes_of("g.mtx.gz").substr(0, 2), "\x1f\x8b");
    EXPECT_THROW(io::write_graph(folder_ / "g.mtx.xz", directed(), Format::matrix_market), Error);
}

TEST_F(WriteGraph, SortsColumnsOnTheWayBack) {
    const auto unsorted = graph_of(2, 3, {0, 2, 3}, {2, 0, 1}, {5, 6, 7});
    io::write_graph(folder_ / "g.gnng", unsorted, Format::gnng);
    const auto back = io::read_graph(folder_ / "g.gnng").graph;
    EXPECT_EQ(back.col_idx, (HostVector<std::int32_t>{0, 2, 1}));
    EXPECT_EQ(back.edge_weight, (HostVector<float>{6, 5, 7}));
}

TEST_F(WriteGraph, SaysWhereItCannotWrite) {
    EXPECT_THROW(io::write_graph(folder_ / "missing" / "g.mtx", directed(), Format::matrix_market), Error);
    EXPECT_THROW(io::write_graph(folder_ / "g_A.txt", directed(), Format::tu), Error);
    auto broken = directed();
    broken.col_idx[0] = 99;
    EXPECT_THROW(io::write_graph(folder_ / "g.mtx", broken, Format::matrix_market), Error);
}

TEST_F(WriteGraph, GnngArraysAreAligned) {
    io::write_graph(folder_ / "g.gnng", weighted(), Format::gnng);
    const std::string bytes = bytes_of("g.gnng");
    io::gnng::Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    EXPECT_EQ(header.row_ptr % 64, 0u);
    EXPECT_EQ(header.col_idx % 64, 0u);
    EXPECT_EQ(header.edge_weight % 64, 0u);
    EXPECT_EQ(header.file_bytes, bytes.size());
    EXPECT_EQ(header.flags, io::gnng::kWeighted | io::gnng::kSortedColumns);
    float first = 0;
    std::memcpy(&first, bytes.data() + header.edge_weight, sizeof first);
    EXPECT_EQ(first, 0.1f);
}

TEST_F(WriteGraph, GnngNoticesEveryChangedByteAndEveryLength) {
    io::write_graph(folder_ / "g.gnng", weighted(), Format::gnng);
    const std::string bytes = bytes_of("g.gnng");
    io::ReadOptions options;
    options.format = Format::gnng;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 0x11);
        try {
            io::read_graph_bytes(changed, "g.gnng", options);
            ADD_FAILURE() << "byte " << i << " was changed and nobody noticed";
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == ErrorKind::input || error.kind() == ErrorKind::unsupported) << error.what();
        }
        EXPECT_THROW(io::read_graph_bytes(std::string_view(bytes).substr(0, i), "g.gnng", options), Error);
    }
    EXPECT_THROW(io::read_graph_bytes(bytes + '\0', "g.gnng", options), Error);
}

}  // namespace
}  // namespace gnntune::io_write_test
