// Matrix Market: what is read, and what a broken file is told.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/io/graph_io.hpp"
#include "tests/unit/core/io/loaded_graph.hpp"

namespace gnntune::io_mtx_test {
namespace {

using test::cols;
using test::Floats;
using test::Ints;
using test::rows;
using test::weights;

io::LoadedGraph read(const std::string& text, const io::ReadOptions& options = {}) {
    return io::read_graph_bytes(text, "g.mtx", options);
}

/// The message of the error that reading `text` must raise.
std::string problem(const std::string& text, ErrorKind kind = ErrorKind::input, const io::ReadOptions& options = {}) {
    try {
        read(text, options);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error for:\n" << text;
    return {};
}

const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, KeepsTheDirectionOfAThreeEdgeFile) {
    const auto g = read(kPattern + "3 3 3\n1 2\n1 3\n3 2\n");
    EXPECT_EQ(rows(g), (Ints{0, 2, 2, 3}));
    EXPECT_EQ(cols(g), (Ints{1, 2, 1}));
    EXPECT_FALSE(g.graph.weighted());
    EXPECT_EQ(g.format, "mtx");
    EXPECT_EQ(g.name, "g");
    EXPECT_EQ(g.fix_ups.text(), "");
}

TEST(MatrixMarket, AByteOrderMarkAndBlankLinesInFrontChangeNothing) {
    const auto plain = read(kReal + "2 4 2\n2 3 3.5\n1 4 -1\n");
    for (const std::string front : {"\xef\xbb\xbf", "\n", "  \r\n\n", "\xef\xbb\xbf\n"}) {
        const auto g = io::read_graph_bytes(front + kReal + "2 4 2\n2 3 3.5\n1 4 -1\n", "g.txt", {});
        EXPECT_EQ(g.graph.n_cols, 4);
        EXPECT_EQ(cols(g), cols(plain));
        EXPECT_EQ(weights(g), weights(plain));
    }
    EXPECT_NE(problem("\n\n%%MatrixMarket matrix array real general\n").find("3"), std::string::npos)
        << "the banner is on line 3";
}

TEST(MatrixMarket, ReverseSwapsRowsAndColumns) {
    io::ReadOptions options;
    options.reverse = true;
    const auto g = read(kPattern + "3 3 3\n1 2\n1 3\n3 2\n", options);
    EXPECT_EQ(rows(g), (Ints{0, 0, 2, 3}));
    EXPECT_EQ(cols(g), (Ints{0, 2, 0}));
}

TEST(MatrixMarket, SortsEntriesOfAnyOrderAndKeepsTheirWeights) {
    const auto g = read(kReal + "2 4 4\n2 3 3.5\n1 4 -1\n2 1 +2e1\n1 1 .25\n");
    EXPECT_EQ(g.graph.n_rows, 2);
    EXPECT_EQ(g.graph.n_cols, 4);
    EXPECT_EQ(rows(g), (Ints{0, 2, 4}));
    EXPECT_EQ(cols(g), (Ints{0, 3, 0, 2}));
    EXPECT_EQ(weights(g), (Floats{0.25f, -1.0f, 20.0f, 3.5f}));
}

TEST(MatrixMarket, MirrorsSymmetricEntriesButNotTheDiagonal) {
    const auto g = read("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 5\n2 1 6\n3 2 7\n");
    EXPECT_EQ(rows(g), (Ints{0, 2, 4, 5}));
    EXPECT_EQ(cols(g), (Ints{0, 1, 0, 2, 1}));
    EXPECT_EQ(weights(g), (Floats{5, 6, 6, 7, 7}));
    EXPECT_EQ(g.fix_ups.mirrored_entries, 2);
}

TEST(MatrixMarket, MirrorsSkewSymmetricEntriesWithTheOtherSign) {
    const auto g = read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 6\n");
    EXPECT_EQ(weights(g), (Floats{-6, 6}));
    EXPECT_NE(problem("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 6\n").find("no diagonal"),
              std::string::npos);
}

TEST(MatrixMarket, BothTrianglesOfASymmetricMatrixAreTwoGraphsInOne) {
    const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
    const std::string both = "4 4 5\n1 2 3\n2 1 3\n4 4 1\n2 3 5\n3 2 5\n";
    EXPECT_EQ(
        problem(symmetric + both),
        "g.mtx: has 2 pairs of vertices on both sides of the diagonal, but its banner says symmetric, of which one "
        "triangle is written; write general into the banner where all entries are listed, or give "
        "--merge-duplicates, which makes two entries one (weights add up)");
    EXPECT_NE(problem("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 2 3\n2 1 -3\n")
                  .find("has 1 pair of vertices on both sides of the diagonal, but its banner says skew-symmetric"),
              std::string::npos);
    io::ReadOptions options;
    options.merge_duplicates = true;
    const auto g = read(symmetric + both, options);
    EXPECT_EQ(cols(g), (Ints{1, 0, 2, 1, 3}));
    EXPECT_EQ(weights(g), (Floats{6, 6, 10, 10, 1}));
    // Either triangle will do, parts of both too, and what one of them has twice is in it twice.
    EXPECT_EQ(cols(read(symmetric + "3 3 2\n1 2 3\n3 2 5\n")), (Ints{1, 0, 2, 1}));
    EXPECT_EQ(cols(read(symmetric + "3 3 3\n1 2 3\n1 2 3\n3 2 5\n")), (Ints{1, 1, 0, 0, 2, 1}));
}

TEST(MatrixMarket, TakesCommentsBlankLinesTabsCarriageReturnsAndAnyCaseOfTheBanner) {
    const auto g = read(
        "%%matrixmarket MATRIX Coordinate Pattern General\r\n%c\r\n\r\n  2\t2 2 \r\n\r\n1\t2\r\n% c\r\n 2  1 \r\n\r\n");
    EXPECT_EQ(cols(g), (Ints{1, 0}));
}

TEST(MatrixMarket, NeedsNoNewlineAtTheEnd) {
    EXPECT_EQ(cols(read(kPattern + "9 9 1\n7 8")), (Ints{7}));
    EXPECT_EQ(weights(read(kReal + "9 9 1\n7 8 0.5")), (Floats{0.5f}));
}

TEST(MatrixMarket, ReadsAMatrixWithoutEntriesAndOneWithoutRows) {
    EXPECT_EQ(rows(read(kPattern + "2 3 0\n")), (Ints{0, 0, 0}));
    EXPECT_EQ(rows(read(kPattern + "0 0 0")), (Ints{0}));
}

TEST(MatrixMarket, KeepsDuplicatesUnlessAskedToMergeThem) {
    EXPECT_EQ(cols(read(kPattern + "2 2 2\n1 2\n1 2\n")), (Ints{1, 1}));
}

TEST(MatrixMarket, ReadsIdsOfEveryLength) {
    io::ReadOptions options;
    options.memory_limit_bytes = std::uint64_t{8} << 30;  // for 10^9 columns
    const auto g = read(kPattern + "12345678 1000000000 2\n1234567 99999999\n12345678 1000000000\n", options);
    EXPECT_EQ(cols(g), (Ints{99999998, 999999999}));
    EXPECT_EQ(g.graph.row_ptr[1234566], 0);
    EXPECT_EQ(g.graph.row_ptr[1234567], 1);
}

TEST(MatrixMarket, ReadsMoreThanOneBlockOfText) {
    std::string text = kPattern + "100000 100000 100000\n";
    for (int i = 1; i <= 100000; ++i) text += std::to_string(i) + ' ' + std::to_string(100001 - i) + '\n';
    const auto g = read(text);
    ASSERT_EQ(g.graph.m(), 100000);
    for (int i = 0; i < 100000; ++i) ASSERT_EQ(g.graph.col_idx[static_cast<std::size_t>(i)], 99999 - i);
}

TEST(MatrixMarket, NamesTheLineAndTheBoundOfAnIdOutOfRange) {
    EXPECT_EQ(problem(kPattern + "%\n2708 2708 2\n1 2\n1 3000\n"),
              "g.mtx line 5: column 3000 is outside 1..2708; the size line promises a 2708 x 2708 matrix");
    EXPECT_EQ(problem(kPattern + "3 3 1\n0 1\n"),
              "g.mtx line 3: row 0 is outside 1..3; the size line promises a 3 x 3 matrix");
    EXPECT_EQ(problem(kReal + "3 3 1\n-1 1 1\n"),
              "g.mtx line 3: row -1 is outside 1..3; the size line promises a 3 x 3 matrix");
    EXPECT_EQ(problem(kReal + "3 3 1\n1 -7 1\n"),
              "g.mtx line 3: column -7 is outside 1..3; the size line promises a 3 x 3 matrix");
}

TEST(MatrixMarket, CountsTheEntriesAgainstTheSizeLine) {
    EXPECT_EQ(problem(kPattern + "3 3 5\n1 2\n2 3\n"),
              "g.mtx: ends at line 4 after 2 entries, but the size line promises 5; the file is cut short");
    EXPECT_EQ(problem(kPattern + "3 3 1\n1 2\n2 3\n"),
              "g.mtx line 4: entry 2 is one more than the 1 that the size line promises");
}

TEST(MatrixMarket, RefusesValuesThatAreNoFiniteFloat) {
    for (const char* value : {"nan", "inf", "-Infinity", "1e99", "0x10", "1,5", "abc", "", "1.0 2.0", "--1", "+-1"}) {
        EXPECT_NE(problem(kReal + "3 3 1\n1 2 " + value + "\n").find("g.mtx line 3: expected"), std::string::npos)
            << value;
    }
    EXPECT_EQ(weights(read(kReal + "3 3 1\n1 2 1e-99\n")), (Floats{0}));
    EXPECT_EQ(
        problem(kReal + "3 3 1\n3 1 1e39\n"),
        "g.mtx line 3: expected a value that float32 holds behind 'row column', up to 3.4e38, found '1e39'; scale "
        "the weights, or give --ignore-weights");
    EXPECT_NE(problem(kReal + "3 3 1\n3 1 -1e999\n").find("that float32 holds"), std::string::npos);
    EXPECT_NE(problem(kReal + "3 3 1\n3 1 inf\n").find("expected a finite value"), std::string::npos);
}

TEST(MatrixMarket, NamesWeightsThatFloat32DoesNotHold) {
    const auto said = [](const std::string& value) {
        return read(kReal + "3 3 1\n1 2 " + value + "\n").fix_ups.text();
    };
    for (const char* value : {"16777217", "-16777217", "16777217.0", "1.6777217e7", "4611686018427387905"}) {
        EXPECT_EQ(said(value), "rounded 1 whole weight beyond 2^24 to float32") << value;
    }
    for (const char* value : {"1e-50", "-0.2E-60", "1e-400"}) {
        EXPECT_EQ(said(value), "zeroed 1 weight too small for float32") << value;
    }
    for (const char* value : {"0", "-0.0", "0e-99", "0.123456789012", "16777216", "16777218", "16777217.25", "1e20",
                              "4611686018427387904", "1e-40"}) {
        EXPECT_EQ(said(value), "") << value;
    }
    io::ReadOptions options;
    options.ignore_weights = true;
    EXPECT_EQ(read(kReal + "2 2 1\n1 2 1e-50\n", options).fix_ups.text(), "ignored 1 weight");
}

TEST(MatrixMarket, ValuesOfAnIntegerMatrixAreWhole) {
    const std::string integer = "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 1 4\n";
    EXPECT_EQ(
        problem(integer + "1 2 7.5\n"),
        "g.mtx line 4: expected a whole number behind 'row column', as the banner says integer, found '7.5'; write "
        "real into the banner, or give --ignore-weights");
    for (const char* value : {"7", "-7", "+7", "7.0", "7e0"}) {
        EXPECT_EQ(read(integer + "1 2 " + value + "\n").graph.m(), 2) << value;
    }
    io::ReadOptions options;
    options.ignore_weights = true;
    EXPECT_EQ(read(integer + "1 2 7.5\n", options).graph.m(), 2);
}

TEST(MatrixMarket, RefusesLinesThatAreNoEntry) {
    for (const char* line : {"1", "a b", "1 b", "-1 2", "1.0 2", "1 2 3", "1,2", "99999999999999999999 1", "1 2x"}) {
        EXPECT_NE(problem(kPattern + "3 3 1\n" + line + "\n").find("g.mtx line 3: "), std::string::npos) << line;
    }
    EXPECT_NE(problem(kPattern + std::string("3 3 1\n1\0 2\n", 12)).find("line 3"), std::string::npos);
}

TEST(MatrixMarket, SaysWhichKindsOfMatrixItDoesNotRead) {
    EXPECT_NE(problem("%%MatrixMarket matrix array real general\n1 1\n1\n").find("'matrix array' is not supported"),
              std::string::npos);
    EXPECT_NE(problem("%%MatrixMarket vector coordinate real general\n").find("'vector coordinate'"),
              std::string::npos);
    EXPECT_NE(problem("%%MatrixMarket matrix coordinate complex general\n").find("'complex'"), std::string::npos);
    EXPECT_NE(problem("%%MatrixMarket matrix coordinate real hermitian\n").find("'hermitian'"), std::string::npos);
    EXPECT_NE(problem("%%MatrixMarket matrix coordinate pattern skew-symmetric\n").find("skew-symmetric"),
              std::string::npos);
    EXPECT_NE(problem("%%MatrixMarket matrix coordinate pattern symmetric\n2 3 0\n").find("square"), std::string::npos);
    EXPECT_NE(problem("%%MatrixMarket\n").find("line 1"), std::string::npos);
}

TEST(MatrixMarket, RefusesASizeLineThatIsMissingNegativeOrTooLong) {
    EXPECT_NE(problem(kPattern + "% only a comment\n").find("without its size line"), std::string::npos);
    for (const char* sizes : {"-3 3 1", "3 3", "3 3 1 1", "a b c", "3 3 1.5"}) {
        EXPECT_NE(problem(kPattern + sizes + "\n1 2\n").find("g.mtx line 2: expected"), std::string::npos) << sizes;
    }
}

TEST(MatrixMarket, CallsMoreThanTheFormatsHoldUnsupported) {
    EXPECT_NE(problem(kPattern + "3 3 2147483648\n1 1\n", ErrorKind::unsupported).find("2^31-1"), std::string::npos);
    EXPECT_NE(problem(kPattern + "2147483647 3 1\n1 1\n", ErrorKind::unsupported).find("2^31-2"), std::string::npos);
}

TEST(MatrixMarket, BelievesNoHeaderThatTheFileDoesNotBack) {
    EXPECT_NE(problem(kPattern + "2000000000 3 1\n1 1\n").find("claims 2000000000 vertices but holds only"),
              std::string::npos);
    EXPECT_NE(problem(kPattern + "3 3 2000000000\n1 1\n").find("cut short"), std::string::npos);
    io::ReadOptions options;
    options.memory_limit_bytes = 1000;
    EXPECT_NE(problem(kPattern + "300 3 1\n1 1\n", ErrorKind::input, options).find("over the limit"),
              std::string::npos);
}

TEST(MatrixMarket, CountsIgnoredWeights) {
    io::ReadOptions options;
    options.ignore_weights = true;
    const auto g = read(kReal + "2 2 1\n1 2 3\n", options);
    EXPECT_FALSE(g.graph.weighted());
    EXPECT_EQ(g.fix_ups.text(), "ignored 1 weight");
}

}  // namespace
}  // namespace gnntune::io_mtx_test
