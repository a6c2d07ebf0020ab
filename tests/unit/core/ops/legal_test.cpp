// The enumeration of legal problems against a walk over the whole space of problems that asks validate() and
// normalised() alone, and against counts by hand of the ops that are there.
#include "core/ops/legal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/common/error.hpp"
#include "core/ops/arrays.hpp"

namespace gnntune {
namespace {

constexpr std::int32_t kWidths[] = {64, 33};
constexpr std::int32_t kHeads[] = {1, 8};

std::vector<Problem> all_legal() {
    return legal_problems(every_op(), kWidths, kHeads);
}

bool valid(const Problem& p) {
    try {
        validate(p);
    } catch (const Error&) {
        return false;
    }
    return true;
}

// Of plain numbers: neither the lists of values nor the order of the loops are those of the enumeration.
std::set<std::string> by_brute_force(bool with_heads) {
    std::set<std::string> found;
    for (int number = 0; number < 64 * 4 * 4 * 2 * 2 * 2; ++number) {
        int rest = number;
        const auto digit = [&rest](int base) {
            const int value = rest % base;
            rest /= base;
            return value;
        };
        Problem p;
        p.op = static_cast<Op>(digit(64));
        p.dtype = static_cast<DType>(digit(4));
        p.reduce = static_cast<Reduce>(digit(4));
        p.weighted = digit(2) == 1;
        p.direction = static_cast<Direction>(digit(2));
        p.self_loop = digit(2) == 1;
        // Values behind the last of an enum have no text.
        if (to_text(p.op) == "?" || to_text(p.dtype) == "?" || to_text(p.reduce) == "?") continue;
        for (const std::int32_t k : {1, 33, 64}) {
            for (const std::int32_t heads : {1, 8}) {
                if (heads > 1 && !with_heads) continue;
                p.k = k;
                p.heads = heads;
                if (!valid(p) || normalised(p) != p) continue;
                // 1 is no width that is asked for: only what has no other is meant.
                Problem wide = p;
                wide.k = 64;
                if (k == 1 && normalised(wide).k != 1) continue;
                found.insert(to_text(p));
            }
        }
    }
    return found;
}

TEST(Legal, IsWhatValidateLetsThrough) {
    std::set<std::string> with_one_head;
    for (const Problem& p : legal_problems(every_op(), kWidths, std::vector<std::int32_t>{1})) {
        EXPECT_TRUE(with_one_head.insert(to_text(p)).second) << to_text(p) << " stands there twice";
    }
    EXPECT_EQ(with_one_head, by_brute_force(false));
    std::set<std::string> all;
    for (const Problem& p : all_legal()) EXPECT_TRUE(all.insert(to_text(p)).second) << to_text(p);
    const auto everything = by_brute_force(true);
    for (const std::string& text : all) EXPECT_TRUE(everything.contains(text)) << text << " is not legal";
    // What is left out has heads that mean a width.
    for (const std::string& text : everything) {
        if (!all.contains(text)) {
            EXPECT_NE(text.find("heads=8"), std::string::npos) << text;
        }
    }
}

TEST(Legal, HeadsCountWhereArraysTellThemApart) {
    for (const Op op : every_op()) {
        for (const bool weighted : {false, true}) {
            Problem p;
            p.op = op;
            p.k = 64;
            p.heads = 8;
            p.weighted = weighted;
            p = normalised(p);
            bool of_heads_alone = false;  // an array with one value for each head and none for a feature
            Query query;
            query.problem = p;
            query.n_rows = 1009;
            query.n_cols = 2003;
            query.m = 5003;
            for (const ArraySpec& a : arrays_of(query)) of_heads_alone |= a.width == 8 || a.rows == 8;
            EXPECT_EQ(p.heads == 8 && has_own_heads(p), of_heads_alone) << to_text(op);
        }
    }
}

TEST(Legal, CountsOfEachOp) {
    std::map<Op, std::size_t> count;
    for (const Problem& p : all_legal()) ++count[p.op];
    // Storage types x (reductions without a maximum x weights x directions x self loops + the maximum) x widths.
    // With heads only what is weighted, and no maximum.
    const std::size_t sums = 3 * (2 * 2 * 2 * 2 + 2 * 2) * 2 + 3 * (2 * 2 * 2) * 2;
    const std::size_t attention = 3 * 2 * 2 * 2;  // storage types x directions x heads x widths
    EXPECT_EQ(count[Op::spmm], sums);
    EXPECT_EQ(count[Op::spmm_grad], sums);
    EXPECT_EQ(count[Op::sddmm], 3U * 2 * 2 * 2 * 2);
    EXPECT_EQ(count[Op::edge_softmax], 3U * 2 * 2);
    for (const Op op : {Op::gat, Op::gat_grad, Op::agnn, Op::agnn_grad, Op::attention, Op::attention_grad}) {
        EXPECT_EQ(count[op], attention) << to_text(op);
    }
    EXPECT_EQ(count[Op::gcn_norm], 3U * 2 * 2);
    for (const Op op : {Op::coo_to_csr, Op::csr_to_csc, Op::sgt}) EXPECT_EQ(count[op], 2U) << to_text(op);
    for (const Op op : every_op()) EXPECT_GT(count[op], 0U) << to_text(op);
}

TEST(Legal, WeightsAndSelfLoopsChangeTheArrays) {
    const auto names = [](const Problem& p) {
        Query query;
        query.problem = p;
        query.n_rows = query.n_cols = 1009;
        query.m = 5003;
        std::vector<std::string> out;
        for (const ArraySpec& a : arrays_of(query)) out.emplace_back(a.name);
        return out;
    };
    for (const Problem& p : all_legal()) {
        Problem other = p;
        other.weighted = !p.weighted;
        if (valid(other) && normalised(other) == other) {
            EXPECT_NE(names(p), names(other)) << to_text(p);
        }
        other = p;
        other.self_loop = !p.self_loop;
        if (valid(other) && normalised(other) == other) {
            EXPECT_NE(names(p), names(other)) << to_text(p);
        }
    }
}

TEST(Legal, ThePlainProblemComesFirst) {
    std::set<std::string> seen;
    for (const Problem& p : all_legal()) {
        const std::string group =
            std::string(to_text(p.op)) + " " + std::to_string(p.k) + " " + std::to_string(p.heads);
        if (!seen.insert(group).second) continue;
        EXPECT_EQ(p.dtype, DType::f32) << group;
        EXPECT_EQ(p.reduce, Reduce::sum) << group;
        EXPECT_EQ(p.direction, Direction::forward) << group;
        EXPECT_FALSE(p.self_loop) << group;
        Problem weighted = p;
        weighted.weighted = true;
        EXPECT_EQ(p.weighted, normalised(weighted).weighted) << group;
    }
}

TEST(Legal, TheListsOfValuesAreWhole) {
    const auto whole = [](const auto& values) {
        using E = std::remove_cvref_t<decltype(values[0])>;
        for (int i = 0; i < 64; ++i) {
            const auto value = static_cast<E>(i);
            const bool listed = std::find(values.begin(), values.end(), value) != values.end();
            EXPECT_EQ(listed, to_text(value) != "?") << i;
            EXPECT_EQ(listed, i < static_cast<int>(values.size())) << i;
        }
    };
    whole(every_op());
    whole(every_dtype());
    whole(every_reduce());
    whole(every_direction());
}

}  // namespace
}  // namespace gnntune
