// The coverage table can fail: by a registry that lacks a variant of a legal problem, and by a time over its bound.
#include "tuner/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/ops/legal.hpp"
#include "core/registry/typical.hpp"
#include "kernels/register_all.hpp"
#include "tests/conformance/faulty/faulty.hpp"
#include "tests/unit/common/capability_fixture.hpp"

namespace gnntune::tuner {
namespace {

constexpr std::int32_t kWidths[] = {64, 33};
constexpr std::int32_t kHeads[] = {1, 8};

Problem plain(Op op = Op::spmm, std::int32_t k = 64) {
    return {op, k, 1, DType::f32, Reduce::sum, true, Direction::forward, false};
}

std::vector<std::string> kinds_of(const Problem& problem) {
    std::vector<std::string> out;
    for (const Departure& d : departures(problem)) out.push_back(d.kind);
    return out;
}

CoverageOutcome timed(const Problem& problem, double us) {
    return {"g", problem, Coverage::timed, "", "spmm.some{}", us, us, us};
}

TEST(Coverage, APlainProblemHasNoSiblings) {
    EXPECT_TRUE(departures(plain()).empty());
    EXPECT_TRUE(departures(normalised(plain(Op::gat))).empty());
    EXPECT_TRUE(departures(normalised(plain(Op::csr_to_csc))).empty());
}

TEST(Coverage, EachSiblingIsPlainerInOneWay) {
    Problem p{Op::spmm, 33, 1, DType::f16, Reduce::mean, false, Direction::reversed, true};
    EXPECT_EQ(kinds_of(p), (std::vector<std::string>{"f16", "mean", "unweighted", "reversed", "self_loop"}));
    for (const Departure& d : departures(p)) {
        const auto left = kinds_of(d.sibling);
        EXPECT_EQ(left.size(), 4U);
        EXPECT_EQ(std::count(left.begin(), left.end(), d.kind), 0) << d.kind;
        EXPECT_EQ(d.sibling.k, 33);
        EXPECT_EQ(d.sibling.op, Op::spmm);
    }
}

// So that every comparison can be made: whatever is enumerated has its siblings among the others.
TEST(Coverage, SiblingsOfLegalProblemsAreEnumerated) {
    const auto all = legal_problems(every_op(), kWidths, kHeads);
    const auto kinds = coverage_kinds();
    std::set<std::string> seen;
    for (const Problem& p : all) {
        bool is_plain = true;
        for (const Departure& d : departures(p)) {
            is_plain = false;
            EXPECT_NE(std::find(all.begin(), all.end(), d.sibling), all.end()) << to_text(p) << ", " << d.kind;
            EXPECT_NE(std::find(kinds.begin(), kinds.end(), d.kind), kinds.end()) << d.kind;
            seen.insert(d.kind);
        }
        Problem weighted = p;
        weighted.weighted = true;
        const bool really_plain = p.dtype == DType::f32 && p.reduce == Reduce::sum &&
                                  p.direction == Direction::forward && !p.self_loop &&
                                  normalised(weighted).weighted == p.weighted;
        EXPECT_EQ(is_plain, really_plain) << to_text(p);
    }
    EXPECT_EQ(seen.size(), kinds.size());
}

TEST(Coverage, Bounds) {
    for (const char* kind : {"self_loop", "reversed", "mean", "unweighted"}) EXPECT_EQ(usual_bound(kind), 1.15) << kind;
    EXPECT_EQ(usual_bound("max"), 1.6);
    for (const char* kind : {"f16", "bf16"}) EXPECT_EQ(usual_bound(kind), 1.02) << kind;
}

TEST(Coverage, ATimeOverItsBoundFails) {
    Problem loops = plain();
    loops.self_loop = true;
    Problem max = plain();
    max.reduce = Reduce::max;
    Problem half = plain();
    half.dtype = DType::f16;
    const std::vector<CoverageOutcome> outcomes{timed(plain(), 100), timed(loops, 116), timed(max, 159),
                                                timed(half, 102.5)};
    CoverageDemands demands{Backend::cuda, {}};
    const auto rows = coverage_rows(outcomes, demands);
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].kinds, "plain");
    EXPECT_FALSE(rows[0].fails);
    EXPECT_EQ(rows[1].verdict, CoverageVerdict::over);
    EXPECT_TRUE(rows[1].fails);
    EXPECT_DOUBLE_EQ(rows[1].ratio, 1.16);
    EXPECT_EQ(rows[1].sibling, outcomes.data());
    EXPECT_EQ(rows[2].verdict, CoverageVerdict::ok);
    EXPECT_EQ(rows[3].verdict, CoverageVerdict::over);
    EXPECT_TRUE(rows[3].fails);

    // A bound that is named stands instead.
    demands.bounds["self_loop"] = 1.2;
    EXPECT_EQ(coverage_rows(outcomes, demands)[1].verdict, CoverageVerdict::ok);

    // On the CPU bounds are shown, and count only where they were named; 16 bits are no must there.
    CoverageDemands cpu{Backend::cpu, {}};
    const auto there = coverage_rows(outcomes, cpu);
    EXPECT_EQ(there[1].verdict, CoverageVerdict::over);
    EXPECT_FALSE(there[1].fails);
    cpu.bounds = {{"self_loop", 1.15}, {"f16", 1.02}};
    EXPECT_TRUE(coverage_rows(outcomes, cpu)[1].fails);
    EXPECT_FALSE(coverage_rows(outcomes, cpu)[3].fails);
}

TEST(Coverage, WhatHasNoTimeIsOneRow) {
    Problem p = plain();
    p.dtype = DType::f16;
    p.self_loop = true;
    CoverageOutcome missing{"g", p, Coverage::no_variant, "spmm.rows: takes no self loops", "", 0, 0, 0};
    Problem half = plain();
    half.dtype = DType::f16;
    std::vector<CoverageOutcome> outcomes{timed(plain(), 100), timed(half, 60), missing};
    const CoverageDemands cuda{Backend::cuda, {}};
    const auto rows = coverage_rows(outcomes, cuda);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[2].kinds, "f16+self_loop");
    EXPECT_TRUE(rows[2].is_of("f16"));
    EXPECT_TRUE(rows[2].is_of("self_loop"));
    EXPECT_FALSE(rows[2].is_of("bf16"));
    EXPECT_FALSE(rows[2].is_of("loop"));
    EXPECT_TRUE(rows[2].fails);
    const CoverageDemands cpu{Backend::cpu, {}};
    EXPECT_FALSE(coverage_rows(outcomes, cpu)[2].fails);

    const std::vector<std::pair<Coverage, bool>> others{
        {Coverage::wrong, true}, {Coverage::not_measured, true}, {Coverage::left_out, false}};
    for (const auto& [what, fails] : others) {
        outcomes[2].what = what;
        EXPECT_EQ(coverage_rows(outcomes, cuda)[2].fails, fails);
    }
    // A sibling without a time has a row of its own, which fails.
    outcomes[1].what = Coverage::not_measured;
    outcomes[2] = timed(p, 70);
    const auto alone = coverage_rows(outcomes, cuda);
    ASSERT_EQ(alone.size(), 4U);
    EXPECT_TRUE(alone[1].fails);
    EXPECT_EQ(alone[3].verdict, CoverageVerdict::no_sibling);
    EXPECT_FALSE(alone[3].fails);
}

TEST(Coverage, TheSummaryHasTheWorstAndTheMean) {
    Problem reversed = plain();
    reversed.direction = Direction::reversed;
    Problem narrow = plain(Op::spmm, 33);
    Problem narrow_reversed = narrow;
    narrow_reversed.direction = Direction::reversed;
    Problem loops = plain();
    loops.self_loop = true;
    const std::vector<CoverageOutcome> outcomes{
        timed(plain(), 100),
        timed(reversed, 200),
        timed(narrow, 100),
        timed(narrow_reversed, 50),
        {"g", loops, Coverage::no_variant, "none", "", 0, 0, 0},
    };
    const CoverageDemands demands{Backend::cuda, {}};
    const auto rows = coverage_rows(outcomes, demands);
    const auto kinds = coverage_summary(rows, demands);
    ASSERT_EQ(kinds.size(), 3U);
    EXPECT_EQ(kinds[0].kind, "plain");
    EXPECT_EQ(kinds[0].compared, 0U);
    EXPECT_EQ(kinds[1].kind, "reversed");
    EXPECT_EQ(kinds[1].compared, 2U);
    EXPECT_DOUBLE_EQ(kinds[1].geomean, 1.0);
    ASSERT_NE(kinds[1].worst, nullptr);
    EXPECT_DOUBLE_EQ(kinds[1].worst->ratio, 2.0);
    EXPECT_EQ(kinds[1].over, 1U);
    EXPECT_EQ(kinds[1].failing, 1U);
    EXPECT_EQ(kinds[2].kind, "self_loop");
    EXPECT_EQ(kinds[2].no_variant, 1U);
    EXPECT_EQ(kinds[2].failing, 1U);
}

TEST(Coverage, VerdictsHaveWords) {
    for (const CoverageVerdict verdict : every_coverage_verdict()) {
        EXPECT_EQ(parse_coverage_verdict(to_text(verdict)), verdict);
    }
    EXPECT_FALSE(parse_coverage_verdict("fine"));
}

// What an application may get without allowing anything: neither a faster sample nor a faster TF32 kernel.
TEST(Coverage, TheFastestIsExact) {
    Candidate slow;
    slow.config = {"spmm.right", {}};
    slow.median_us = 10;
    Candidate tf32 = slow;
    tf32.precision = Precision::tf32;
    tf32.median_us = 1;
    Candidate sample = slow;
    sample.approximate = true;
    sample.median_us = 2;
    Candidate fast = slow;
    fast.config.variant = "spmm.fast";
    fast.median_us = 5;
    const std::vector<Candidate> candidates{tf32, slow, sample, fast};
    ASSERT_NE(fastest_exact(candidates), nullptr);
    EXPECT_EQ(fastest_exact(candidates)->config.variant, "spmm.fast");
    EXPECT_EQ(fastest_exact({tf32, sample}), nullptr);
}

/// A variant of the tests' own that is right, and takes what `applicable` says.
Variant right_variant(Verdict (*applicable)(const Query&)) {
    const auto all = conformance::faulty_variants(Backend::cpu);
    Variant v = std::find_if(all.begin(), all.end(), [](const auto& f) {
                    return std::string_view(f.variant.id).ends_with("right") && f.variant.op == Op::spmm;
                })->variant;
    v.can = kAnyKind;
    v.applicable = applicable;
    return v;
}

TEST(Coverage, ARegistryThatLacksAVariantIsNamed) {
    Registry registry;
    registry.add(right_variant(
        [](const Query& q) { return q.problem.self_loop ? Verdict::no("takes no self loops") : Verdict::yes(); }));
    const Device device = cpu_device();
    Problem loops = plain();
    loops.self_loop = true;
    EXPECT_EQ(exact_variants(registry, typical_query(plain(), device)).variants.size(), 1U);
    const Applicability none = exact_variants(registry, typical_query(loops, device));
    EXPECT_TRUE(none.variants.empty());
    EXPECT_NE(none.refusals_text().find("takes no self loops"), std::string::npos) << none.refusals_text();
    // Another op has no variant at all.
    EXPECT_EQ(exact_variants(registry, typical_query(plain(Op::sddmm), device)).refusals_text(),
              "this build has no exact variant of the op");

    std::vector<CoverageOutcome> outcomes;
    for (const Problem& p : legal_problems(std::vector<Op>{Op::spmm}, kWidths, kHeads)) {
        const auto found = exact_variants(registry, typical_query(p, device));
        outcomes.push_back(timed(p, 10));
        if (found.variants.empty()) outcomes.back().what = Coverage::no_variant;
    }
    std::size_t failing = 0;
    for (const CoverageRow& row : coverage_rows(outcomes, {Backend::cuda, {}})) {
        EXPECT_EQ(row.fails, row.outcome->problem.self_loop) << to_text(row.outcome->problem);
        failing += row.fails ? 1 : 0;
    }
    // Storage types x sum and mean x (unweighted, weighted, weights for each head) x directions x widths.
    EXPECT_EQ(failing, 3U * 2 * 3 * 2 * 2);
}

// The table names a variant for a problem exactly where some exact variant's record says that it can do such problems, and
// tells why none can in the words of the records.
TEST(Coverage, RestsOnWhatTheRecordsSay) {
    Registry registry;
    register_all(registry);
    std::size_t without = 0;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        const bool has_any = std::any_of(registry.variants().begin(), registry.variants().end(),
                                         [&](const Variant& v) { return v.backend == backend; });
        if (!has_any) continue;  // a build without CUDA
        const Device device = test::device_of(backend);
        for (const Problem& p : legal_problems(every_op(), test::kWidths, test::kHeads)) {
            std::set<std::string> able;
            for (const Variant& v : registry.variants()) {
                const bool exact = !v.approximate && v.precision == Precision::fp32;
                if (v.op == p.op && v.backend == backend && exact && lacking(v.can, p).empty()) able.insert(v.id);
            }
            std::set<std::string> named;
            for (const Query& query : test::queries_of(p, device)) {
                const Applicability found = exact_variants(registry, query);
                named.insert(found.variants.begin(), found.variants.end());
                for (const auto& [variant, reason] : found.refusals) {
                    const std::string words = lacking(registry.find(variant)->can, p);
                    EXPECT_TRUE(words.empty() || words == reason) << variant << " on " << to_text(p) << ": " << reason;
                }
            }
            EXPECT_EQ(named.empty(), able.empty()) << to_text(p);
            EXPECT_TRUE(std::includes(able.begin(), able.end(), named.begin(), named.end())) << to_text(p);
            without += able.empty() ? 1 : 0;
        }
        EXPECT_EQ(without > 0, backend == Backend::cpu) << "on CUDA every problem has a variant, on the CPU not all";
        without = 0;
    }
}

TEST(Coverage, AnInexactVariantIsNone) {
    Registry registry;
    Variant v = right_variant([](const Query&) { return Verdict::yes(); });
    v.precision = Precision::tf32;
    registry.add(v);
    const Device device = cpu_device();
    EXPECT_TRUE(exact_variants(registry, typical_query(plain(), device)).variants.empty());
}

// A composition whose part nothing can do is no variant, although it says that it can.
TEST(Coverage, ACompositionNeedsItsParts) {
    Registry registry;
    Variant v = right_variant([](const Query&) { return Verdict::yes(); });
    v.parts = [](const Query& q) {
        Problem part = q.problem;
        part.op = Op::sddmm;
        return std::vector<Part>{{"sddmm", part}};
    };
    registry.add(v);
    const Device device = cpu_device();
    const Applicability found = exact_variants(registry, typical_query(plain(), device));
    EXPECT_TRUE(found.variants.empty());
    EXPECT_NE(found.refusals_text().find("no variant of this build can do sddmm"), std::string::npos);
}

TEST(Coverage, TheCpuHasEveryProblemInF32) {
    Registry registry;
    register_all(registry);
    const Device device = cpu_device();
    const CoverageDemands demands{Backend::cpu, {}};
    for (const Problem& p : legal_problems(every_op(), kWidths, std::vector<std::int32_t>{1})) {
        const auto found = exact_variants(registry, typical_query(p, device));
        if (demands.must(p)) {
            EXPECT_FALSE(found.variants.empty()) << to_text(p) << ": " << found.refusals_text();
        }
    }
}

}  // namespace
}  // namespace gnntune::tuner
