// How fast a plain pattern .mtx of 8 million edges becomes CSR. Prints the figure; asserts a bound only where the build
// is optimised and carries no sanitizer. The aim is 0.3 s on one core.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "core/io/graph_io.hpp"

namespace gnntune {
namespace {

constexpr int kRows = 1'000'000;
constexpr int kPerRow = 8;
constexpr double kLargestSeconds = 1.0;

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

TEST(ReadingSpeed, EightMillionSortedEdgesInUnderASecond) {
    const auto path = write_sorted_file();
    const auto megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
    double best_s = 1e9;
    for (int run = 0; run < 3; ++run) {
        const auto start = std::chrono::steady_clock::now();
        const auto loaded = io::read_graph(path);
        best_s = std::min(best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        ASSERT_EQ(loaded.graph.m(), std::int64_t{kRows} * kPerRow);
    }
    std::filesystem::remove(path);
    std::printf("read %.0f MB, %d edges in %.3f s (best of 3): %.0f MB/s\n", megabytes, kRows * kPerRow, best_s,
                megabytes / best_s);
    if (kAsserted) {
        EXPECT_LT(best_s, kLargestSeconds);
    }
}

}  // namespace
}  // namespace gnntune
