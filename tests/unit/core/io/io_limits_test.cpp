// What a file may claim: limits hold before memory is taken.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/common/error.hpp"
#include "core/io/detail/bytes.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/common/expect_has.hpp"
#include "tests/unit/common/temporary_folder.hpp"
#include "tests/unit/core/io/npz_bytes.hpp"
#include "tests/unit/core/io/read_problem.hpp"

namespace gnntune::io_limits_test {
namespace {

using test::problem;

constexpr std::uint64_t kMebibyte = 1 << 20;

TEST(Limits, ColumnsAreCheckedAsRowsAre) {
    const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
    for (const char* sizes : {"1 2147483646 1\n1 1\n", "1 100000000 1\n1 1\n"}) {
        EXPECT_HAS(problem([&] { io::read_graph_bytes(banner + sizes, "wide.mtx"); }), "wide.mtx: claims ");
        EXPECT_HAS(problem([&] { io::read_graph_bytes(banner + sizes, "wide.mtx"); }), " columns but holds only ");
    }
    const auto shape = test::longs({1, 100000000});
    const auto csr = test::zip({{"format", test::npy("|S3", "()", "csr")},
                                {"shape", shape},
                                {"indptr", test::ints({0, 1})},
                                {"indices", test::ints({0})}});
    const auto coo = test::zip({{"shape", shape}, {"row", test::ints({0})}, {"col", test::ints({0})}});
    for (const auto& bytes : {csr, coo}) {
        EXPECT_HAS(problem([&] { io::read_graph_bytes(bytes, "wide.npz"); }), "claims 100000000 columns");
    }
    const test::TemporaryFolder folder;
    CsrGraph graph;
    graph.n_rows = 1;
    graph.n_cols = 100000000;
    graph.row_ptr = {0, 1};
    graph.col_idx = {0};
    io::write_graph(folder.path() / "wide.gnng", graph, io::Format::gnng);
    EXPECT_HAS(problem([&] { io::read_graph(folder.path() / "wide.gnng"); }), "claims 100000000 columns");
    io::ReadOptions options;
    options.memory_limit_bytes = 1000;
    EXPECT_HAS(problem([&] { io::read_graph_bytes(banner + "1 300 1\n1 1\n", "g.mtx", options); }),
               "the columns would take");
    EXPECT_EQ(io::read_graph_bytes(banner + "1 1000000 1\n1 1\n", "g.mtx").graph.n_cols, 1000000);
    options = {};
    options.vertices = 68000000;
    const std::string square = banner + "68000000 68000000 1\n1 1\n";
    EXPECT_HAS(problem([&] { io::read_graph_bytes(square, "g.mtx"); }), "if it is right, give --vertices 68000000, or");
    EXPECT_EQ(io::read_graph_bytes(square, "g.mtx", options).graph.n_rows, 68000000);
}

TEST(Limits, AnArchiveThatGrowsBeyondReasonIsRefusedBeforeItIsRead) {
    test::Zip how;
    how.deflate = true;
    how.extra_size = 300 * kMebibyte;
    std::string noise(320 << 10, '\0');
    std::uint64_t state = 1;
    for (char& c : noise) c = static_cast<char>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    // The header fits what is claimed, so that nothing but the proportion is wrong.
    const std::uint64_t count = (noise.size() + how.extra_size) / 8;
    const std::string bomb = test::npy("<i8", "(2, " + std::to_string(count / 2) + ")", noise);
    EXPECT_HAS(problem([&] {
                   io::read_graph_bytes(test::zip({{"edge_index", bomb}}, how), "bomb.npz");
               }),
               "which no graph does; unpack the file yourself");
}

TEST(Limits, BytesOfAPipeAreHeldOnceAndNeverCopiedAsTheyGrow) {
    io::detail::HeldBytes held("pipe");
    io::detail::Limits limits;
    limits.memory_bytes = 5 * kMebibyte;
    std::uint64_t largest = 0;
    for (std::size_t size = 0; size < 5 * kMebibyte;) {
        std::size_t room = 0;
        char* const to = held.next(room, limits, "the bytes");
        const std::size_t take = std::min<std::size_t>(room, 100000);
        std::fill(to, to + take, static_cast<char>(size / 100000));
        held.grew(take);
        size += take;
        largest = std::max(largest, held.held_bytes());
        ASSERT_LE(held.held_bytes(), held.size() + kMebibyte);
    }
    EXPECT_EQ(largest, 5 * kMebibyte);
    std::size_t room = 0;
    EXPECT_HAS(problem([&] { held.next(room, limits, "the bytes"); }),
               "the bytes would take 6 MiB, over the limit of 5 MiB");
    char two[2] = {};
    held.read_at(kMebibyte - 1, two, 2);  // across two pieces
    EXPECT_EQ(two[0], two[1]);
    EXPECT_HAS(problem([&] { held.read_at(5 * kMebibyte - 1, two, 2); }), "cut short");
}

TEST(Limits, APipeCountsBesideTheGraphInIt) {
    const test::TemporaryFolder folder;
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const auto read_through = [&](const std::string& text, std::uint64_t limit) {
        std::thread writer([&] {
            std::ofstream out(pipe);
            out << text;
        });
        io::ReadOptions options;
        options.memory_limit_bytes = limit;
        std::string words;
        try {
            words = io::read_graph(pipe, options).format;
        } catch (const Error& error) {
            words = error.what();
        }
        writer.join();
        return words;
    };
    signal(SIGPIPE, SIG_IGN);
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "1 2 0.5\n";
    EXPECT_EQ(read_through(text, 8 * kMebibyte), "edges");
    EXPECT_HAS(read_through(text, kMebibyte * 3 / 2), "over the limit");
}

TEST(Limits, ADeviceWithoutEndIsNoFile) {
    EXPECT_HAS(problem([] { io::read_graph("/dev/zero"); }), "/dev/zero: is a device, expected a file or a pipe");
}

TEST(Limits, ALineThatNoGraphHasIsNotHeld) {
    const std::string line(3 << 20, '1');
    io::ReadOptions options;
    options.format = io::Format::edge_list;
    EXPECT_HAS(problem([&] { io::read_graph_bytes("0 1\n1 0\n" + line, "g.txt", options); }),
               "has a line of over 1 MiB");
    options.format = io::Format::metis;
    EXPECT_HAS(problem([&] { io::read_graph_bytes("2 1\n" + line, "g.graph", options); }), "has a word of over 1 MiB");
}

/// A vertex that is everybody's neighbour, as METIS writes it.
std::string metis_star(int leaves, bool weighted, const std::string& before) {
    std::string text = std::to_string(leaves + 1) + ' ' + std::to_string(leaves);
    if (weighted) text += before.empty() ? " 001" : " 011 2";
    text += '\n' + before;
    for (int i = 2; i <= leaves + 1; ++i) {
        text += std::to_string(i) + ' ';
        if (weighted) text += std::to_string(i % 7 + 1) + ' ';
    }
    for (int i = 2; i <= leaves + 1; ++i) {
        text += '\n' + before + "1";
        if (weighted) text += ' ' + std::to_string(i % 7 + 1);
    }
    return text + '\n';
}

TEST(Limits, ALongLineOfMetisIsReadInPieces) {
    constexpr int kLeaves = 200000;
    for (const bool weighted : {false, true}) {
        for (const char* before : {"", "7 8 "}) {
            if (!weighted && *before) continue;
            const std::string text = metis_star(kLeaves, weighted, before);
            ASSERT_GT(text.find('\n', 30), std::size_t{1} << 20);
            io::ReadOptions options;
            options.format = io::Format::metis;
            options.memory_limit_bytes = weighted ? 8 * kMebibyte : 5 * kMebibyte;
            const auto g = io::read_graph_bytes(text, "star.graph", options).graph;
            ASSERT_EQ(g.m(), 2 * kLeaves);
            EXPECT_EQ(g.row_ptr[1], kLeaves);
            for (int i = 0; i < kLeaves; ++i) {
                const auto e = static_cast<std::size_t>(i);
                ASSERT_EQ(g.col_idx[e], i + 1);
                if (weighted) {
                    ASSERT_EQ(g.edge_weight[e], static_cast<float>((i + 2) % 7 + 1));
                }
            }
        }
    }
}

}  // namespace
}  // namespace gnntune::io_limits_test
