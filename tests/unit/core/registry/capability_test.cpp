// What variants can do, as data: words of refusals, and whether the records mean what they say.
#include "core/registry/capability.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/common/error.hpp"
#include "core/ops/legal.hpp"
#include "core/registry/typical.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/capability_fixture.hpp"

namespace gnntune {
namespace {

constexpr Capability kPlain;

Problem spmm() {
    return {Op::spmm, 64, 1, DType::f32, Reduce::sum, true, Direction::forward, false};
}

TEST(Capability, WhatIsLackingIsNamed) {
    EXPECT_EQ(lacking(kPlain, spmm()), "");
    Problem p = spmm();
    p.self_loop = true;
    EXPECT_EQ(lacking(kPlain, p), "adds no self loops; put them into the graph");
    p = spmm();
    p.reduce = Reduce::max;
    EXPECT_EQ(lacking(kPlain, p), "reduces by sum only, max was asked for");
    EXPECT_EQ(lacking({.reduce = {Reduce::sum, Reduce::mean}}, p), "reduces by sum or mean only, max was asked for");
    p = spmm();
    p.dtype = DType::bf16;
    EXPECT_EQ(lacking(kPlain, p), "stores f32 only, bf16 was asked for");
    EXPECT_EQ(lacking({.storage = {DType::f32, DType::f16}}, p), "stores f32 or f16 only, bf16 was asked for");
    const Capability rounds{.storage = kEveryStorage, .reduce = kEveryReduction, .in_f32_only = {Reduce::mean}};
    EXPECT_EQ(lacking(rounds, p), "");
    p.reduce = Reduce::mean;
    EXPECT_EQ(lacking(rounds, p), "reduces by mean in f32 only, bf16 was asked for");
    p.dtype = DType::f32;
    EXPECT_EQ(lacking(rounds, p), "");
    EXPECT_EQ(lacking({.weights = Takes::no}, spmm()), "takes no edge weights");
    p = spmm();
    p.weighted = false;
    EXPECT_EQ(lacking({.weights = Takes::no}, p), "");
    EXPECT_EQ(lacking({.weights = Takes::only}, p), "is for problems with edge weights");
    EXPECT_EQ(lacking({.self_loops = Takes::only}, spmm()), "is for problems with self loops");
    p = spmm();
    p.direction = Direction::reversed;
    EXPECT_EQ(lacking({.direction = {Direction::forward}}, p), "computes forward only, reversed was asked for");
    p = spmm();
    p.k = 65;
    EXPECT_EQ(lacking({.most_features = 64}, p), "k=65 is more than the 64 features it is made for");
}

TEST(Capability, HeadsThatAreAWidthAreNone) {
    Problem p = spmm();
    p.heads = 2;
    EXPECT_EQ(lacking(kPlain, p), "has no heads");
    EXPECT_EQ(lacking({.heads = true}, p), "");
    EXPECT_EQ(lacking({.heads = true, .most_features = 127}, p),
              "k=64 times heads=2 is more than the 127 features it is made for");
    p.weighted = false;  // they share what weights there are
    EXPECT_EQ(lacking({.heads = true}, p), "has no heads");
    p.op = Op::sddmm;
    EXPECT_EQ(lacking({.heads = true}, p), "");
}

TEST(Capability, ARecordThatCanDoNothingIsRefused) {
    Registry all;
    register_all(all);
    Registry registry;
    Variant v = *all.find("spmm.cpu_rows");
    v.can.storage = {};
    EXPECT_THROW(registry.add(v), Error);
    v.can = {};
    v.can.reduce = {};
    EXPECT_THROW(registry.add(v), Error);
    v.can = {};
    v.applicable = nullptr;
    registry.add(v);
    const Device device = cpu_device();
    EXPECT_TRUE(registry.applicable(*registry.find(v.id), typical_query(spmm(), device)));
}

/// A problem without its sizes.
using Kind = std::tuple<DType, Reduce, bool, bool, bool, Direction>;

Kind kind_of(const Problem& p) {
    return {p.dtype, p.reduce, p.weighted, p.self_loop, p.heads > 1, p.direction};
}

/// Of legal problems the kinds that a variant says it can do.
struct Kinds {
    std::set<Kind> done;
    std::vector<std::string> refused;  ///< on every graph and at every width, and why at the first
};

Kinds kinds_of(const Registry& registry, const Variant& v) {
    const Device device = test::device_of(v.backend);
    Kinds out;
    std::map<Kind, std::string> words;
    for (const Problem& p : legal_problems(std::array{v.op}, test::kWidths, test::kHeads)) {
        if (!lacking(v.can, p).empty()) continue;
        for (const Query& query : test::queries_of(p, device)) {
            const Verdict verdict = registry.applicable(v, query);
            if (verdict || test::is_of_the_machine(verdict.reason)) {
                out.done.insert(kind_of(p));
            } else {
                words.emplace(kind_of(p), std::string(v.id) + " on " + to_text(p) + ": " + verdict.reason);
            }
        }
    }
    for (const auto& [kind, text] : words) {
        if (!out.done.contains(kind)) out.refused.push_back(text);
    }
    return out;
}

// For every legal problem: capability says yes exactly where nothing refuses for reasons of kind. What is refused for a
// graph, a device or a width alone is done on another graph, or at another width.
TEST(Capability, SaysYesExactlyWhereNothingRefusesForReasonsOfKind) {
    Registry registry;
    register_all(registry);
    std::size_t no = 0;
    for (const Variant& v : registry.variants()) {
        const Kinds kinds = kinds_of(registry, v);
        EXPECT_EQ(kinds.refused, std::vector<std::string>{});
        EXPECT_FALSE(kinds.done.empty()) << v.id << " can do nothing";
        const Device device = test::device_of(v.backend);
        for (const Problem& p : legal_problems(std::array{v.op}, test::kWidths, test::kHeads)) {
            const std::string words = lacking(v.can, p);
            if (words.empty()) continue;
            const Verdict verdict = registry.applicable(v, test::queries_of(p, device).front());
            EXPECT_EQ(verdict.ok ? "it is taken" : verdict.reason, words) << v.id << " on " << to_text(p);
            ++no;
        }
    }
    EXPECT_GT(no, 100U);
}

TEST(Capability, AVariantThatRefusesAKindByItselfIsFound) {
    Registry registry;
    register_all(registry);
    Variant v = *registry.find("spmm.cpu_rows");
    ASSERT_EQ(kinds_of(registry, v).refused, std::vector<std::string>{});
    v.applicable = [](const Query& q) { return q.problem.self_loop ? Verdict::no("planted") : Verdict::yes(); };
    const Kinds kinds = kinds_of(registry, v);
    ASSERT_FALSE(kinds.refused.empty());
    for (const std::string& words : kinds.refused) EXPECT_TRUE(words.ends_with("self_loop: planted")) << words;
    v.applicable = [](const Query& q) { return q.n_rows > 1000 ? Verdict::no("planted") : Verdict::yes(); };
    EXPECT_EQ(kinds_of(registry, v).refused, std::vector<std::string>{}) << "that is no kind";
}

}  // namespace
}  // namespace gnntune
