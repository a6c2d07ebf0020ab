// A draw of problems shows many values of each word on one graph, and every kind on a corpus of them.
#include "tuner/draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "core/ops/legal.hpp"

namespace gnntune::tuner::draw_test {
namespace {

constexpr std::int32_t kWidths[] = {16, 64, 256, 33};
constexpr std::int32_t kHeads[] = {1, 4, 8};
constexpr Op kOps[] = {Op::spmm, Op::spmm_grad, Op::gat};
constexpr std::uint64_t kSeed = 7;

std::vector<Problem> all() {
    return legal_problems(kOps, kWidths, kHeads);
}

std::vector<Problem> of(const std::vector<Problem>& problems, Op op) {
    std::vector<Problem> out;
    std::copy_if(problems.begin(), problems.end(), std::back_inserter(out),
                 [&](const Problem& p) { return p.op == op; });
    return out;
}

TEST(Draw, IsTheSameForATurnAndASeedAndAnotherElsewhere) {
    const auto drawn = draw_problems(all(), 8, kSeed, 1);
    EXPECT_EQ(draw_problems(all(), 8, kSeed, 1), drawn);
    EXPECT_NE(draw_problems(all(), 8, kSeed, 2), drawn);
    EXPECT_NE(draw_problems(all(), 8, kSeed + 1, 1), drawn);
    auto turned = all();
    std::reverse(turned.begin(), turned.end());
    EXPECT_EQ(draw_problems(turned, 8, kSeed, 1), drawn) << "the order of the list counts";
}

TEST(Draw, OpsTakeTurnsAndNothingIsDrawnTwice) {
    const auto drawn = draw_problems(all(), 5, kSeed, 3);
    ASSERT_EQ(drawn.size(), 15U);
    std::set<std::string> texts;
    for (const Problem& p : drawn) EXPECT_TRUE(texts.insert(to_text(p)).second) << to_text(p);
    for (std::size_t round = 0; round < 5; ++round) {
        std::set<Op> ops;
        for (std::size_t i = 0; i < 3; ++i) ops.insert(drawn[3 * round + i].op);
        EXPECT_EQ(ops.size(), 3U) << round;
    }
    texts.clear();
    for (const Problem& p : draw_problems(all(), 1000, kSeed, 3)) texts.insert(to_text(p));
    EXPECT_EQ(texts.size(), all().size()) << "all of them, each once";
    EXPECT_EQ(draw_problems(all(), 1000, kSeed, UINT64_MAX).size(), all().size());
    EXPECT_TRUE(draw_problems({}, 5, kSeed, 3).empty());
}

TEST(Draw, AFewShowManyValuesOfEachWord) {
    for (std::uint64_t turn = 0; turn < 30; ++turn) {
        const auto drawn = of(draw_problems(all(), 8, kSeed, turn), Op::spmm);
        std::set<std::int32_t> widths;
        std::set<DType> dtypes;
        std::set<Reduce> reduces;
        std::set<bool> weights;
        std::set<Direction> directions;
        for (const Problem& p : drawn) {
            widths.insert(p.k), dtypes.insert(p.dtype), reduces.insert(p.reduce);
            weights.insert(p.weighted), directions.insert(p.direction);
        }
        EXPECT_GE(widths.size(), 3U) << turn;
        EXPECT_GE(dtypes.size(), 2U) << turn;
        EXPECT_GE(reduces.size(), 2U) << turn;
        EXPECT_EQ(weights.size() + directions.size(), 4U) << turn;
    }
}

// Whatever the width and the number of heads.
TEST(Draw, ACorpusSeesEveryKindOnSeveralGraphs) {
    using Kind = std::tuple<DType, Reduce, bool, Direction, bool>;
    const auto kind_of = [](const Problem& p) { return Kind(p.dtype, p.reduce, p.weighted, p.direction, p.self_loop); };
    std::map<Op, std::map<Kind, int>> graphs;
    for (const Problem& p : all()) graphs[p.op][kind_of(p)] = 0;
    for (std::uint64_t turn = 0; turn < 45; ++turn) {
        std::set<std::pair<Op, Kind>> here;
        for (const Problem& p : draw_problems(all(), 8, kSeed, turn)) here.insert({p.op, kind_of(p)});
        for (const auto& [op, kind] : here) ++graphs[op][kind];
    }
    for (const auto& [op, of_op] : graphs) {
        for (const auto& [kind, count] : of_op) EXPECT_GE(count, 3) << to_text(op);
    }
}

}  // namespace
}  // namespace gnntune::tuner::draw_test
