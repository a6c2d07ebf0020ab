// How fast a plain pattern .mtx of 8 million edges becomes CSR. Prints the figure. The bound is in times of what a plain
// loop over the same text takes, on the same machine at the same time, both in seconds of a processor: other programs
// slow both down. It is asserted where the build is optimised and carries no sanitizer. The aim is 0.3 s on one core.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "core/io/graph_io.hpp"
#include "tests/unit/common/cpu_time.hpp"

namespace gnntune::io_speed_test {
namespace {

constexpr int kRows = 1'000'000;
constexpr int kPerRow = 8;
constexpr double kLargestTimes = 4.0;

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool kAsserted = true;
#else
constexpr bool kAsserted = false;
#endif

std::filesystem::path write_sorted_file() {
    const auto path = std::filesystem::temp_directory_path() / ("gnntune_speed_" + std::to_string(getpid()) + ".mtx");
    std::mt19937 random(1);
    std::string text = "%%MatrixMarket matrix coordinate pattern general\n" + std::to_string(kRows) + ' ' +
                       std::to_string(kRows) + ' ' + std::to_string(kRows * kPerRow) + '\n';
    std::ofstream file(path, std::ios::binary);
    for (int i = 1; i <= kRows; ++i) {
        std::array<unsigned, kPerRow> columns;
        for (auto& column : columns) column = static_cast<unsigned>(random() % kRows + 1);
        std::sort(columns.begin(), columns.end());
        char line[32];
        for (const unsigned column : columns) {
            char* end = std::to_chars(line, line + 12, i).ptr;
            *end++ = ' ';
            end = std::to_chars(end, end + 12, column).ptr;
            *end++ = '\n';
            text.append(line, end);
        }
        if (text.size() > 1 << 20 || i == kRows) {
            file.write(text.data(), static_cast<std::streamsize>(text.size()));
            text.clear();
        }
    }
    return path;
}

/// What no reader can do without: it looks at every byte and forms every number. Returns their sum.
std::uint64_t plain_sum(const std::filesystem::path& path) {
    std::string text(std::filesystem::file_size(path), '\0');
    std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
    std::uint64_t sum = 0;
    std::uint64_t number = 0;
    for (const char c : text) {
        if (c >= '0' && c <= '9') {
            number = 10 * number + static_cast<std::uint64_t>(c - '0');
        } else {
            sum += number;
            number = 0;
        }
    }
    return sum;
}

TEST(ReadingSpeed, EightMillionSortedEdgesInAFewTimesWhatAPlainLoopTakes) {
    const auto path = write_sorted_file();
    const auto megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
    double best_s = 1e9;
    double plain_s = 1e9;
    for (int run = 0; run < 3; ++run) {
        double start = test::cpu_seconds();
        const auto loaded = io::read_graph(path);
        best_s = std::min(best_s, test::cpu_seconds() - start);
        ASSERT_EQ(loaded.graph.m(), std::int64_t{kRows} * kPerRow);
        start = test::cpu_seconds();
        ASSERT_GT(plain_sum(path), std::uint64_t{kRows} * kRows);
        plain_s = std::min(plain_s, test::cpu_seconds() - start);
    }
    std::filesystem::remove(path);
    std::printf("read %.0f MB, %d edges in %.3f s of a processor (best of 3): %.0f MB/s, %.2f times a plain loop\n",
                megabytes, kRows * kPerRow, best_s, megabytes / best_s, best_s / plain_s);
    if (kAsserted) {
        EXPECT_LT(best_s, kLargestTimes * plain_s);
    }
}

}  // namespace
}  // namespace gnntune::io_speed_test
