// The same rows under other demands: numbers of calls, and errors that are allowed.
#include "core/dispatch/objectives.hpp"

#include <gtest/gtest.h>

namespace gnntune::objectives_test {
namespace {

Candidate candidate(const std::string& config, double median_us, double build_us = 0) {
    Candidate c;
    c.config = Config::parse(config);
    c.median_us = median_us;
    c.ci_low_us = c.ci_high_us = median_us;
    c.build_us = build_us;
    c.deterministic = true;
    return c;
}

Candidate inexact(const std::string& config, double median_us, Precision precision, bool approximate, double error) {
    Candidate c = candidate(config, median_us);
    c.precision = precision;
    c.approximate = approximate;
    c.max_error = error;
    return c;
}

std::string text(const std::vector<Candidate>& candidates, const std::vector<CallsRange>& ranges) {
    std::string text;
    for (const CallsRange& r : ranges) {
        text += std::to_string(static_cast<int>(r.from_calls)) + ":" + candidates[r.candidate].config.text() + " ";
    }
    return text;
}

std::string text(const std::vector<Candidate>& candidates, const std::vector<ErrorPoint>& front) {
    std::string text;
    for (const ErrorPoint& p : front) {
        text += std::to_string(static_cast<int>(p.max_error * 1000)) + (p.sampling ? "s:" : ":") +
                candidates[p.candidate].config.text() + " ";
    }
    return text;
}

TEST(CallsRanges, EachConfigFromWhereItHasPaidForItsBuilding) {
    std::vector<Candidate> all{candidate("spmm.tiles", 5, 3000), candidate("spmm.coo", 20),
                               candidate("spmm.csr", 10, 500), candidate("spmm.late", 9, 20000),
                               candidate("spmm.never", 30, 10)};
    // csr: 500 / (20 - 10) = 50 calls; tiles: (3000 - 500) / (10 - 5) = 500 calls.
    EXPECT_EQ(text(all, calls_ranges(all, {})), "1:spmm.coo 50:spmm.csr 500:spmm.tiles ");
    // At each bound and around it the rule itself says the same.
    for (const auto& [calls, winner] : {std::pair(49.0, 1), {51.0, 2}, {499.0, 2}, {520.0, 0}}) {
        Constraints limits;
        limits.expected_calls = calls;
        EXPECT_EQ(*choose(all, limits).winner, static_cast<std::size_t>(winner)) << calls;
    }
    // csr never pays where tiles need little more.
    all[0].build_us = 510;
    EXPECT_EQ(text(all, calls_ranges(all, {})), "1:spmm.coo 34:spmm.tiles ");
    all[2].deterministic = all[0].deterministic = false;
    Constraints limits;
    limits.deterministic = true;
    EXPECT_EQ(text(all, calls_ranges(all, limits)), "1:spmm.coo 1818:spmm.late ");
    EXPECT_TRUE(calls_ranges({}, {}).empty());
}

TEST(ErrorFront, FasterOnesAsMoreErrorIsAllowed) {
    const std::vector<Candidate> all{candidate("spmm.slow", 12),
                                     candidate("spmm.exact", 10),
                                     inexact("spmm.tf32", 8, Precision::tf32, false, 0.002),
                                     inexact("spmm.bf16", 9, Precision::bf16, false, 0.004),
                                     inexact("spmm.fp16", 6, Precision::fp16, false, 0.008),
                                     inexact("spmm.sampled", 7, Precision::fp32, true, 0.005),
                                     inexact("spmm.few", 2, Precision::fp32, true, 0.5)};
    // bf16 is dominated by tf32. The sample is faster than tf32, and drops edges.
    EXPECT_EQ(text(all, error_front(all, {})), "0:spmm.exact 2:spmm.tf32 8:spmm.fp16 5s:spmm.sampled 500s:spmm.few ");
    Constraints limits;
    limits.workspace_limit_bytes = 100;
    std::vector<Candidate> hungry = all;
    hungry[1].workspace_bytes = 101;
    hungry[6].workspace_bytes = 101;
    EXPECT_EQ(text(hungry, error_front(hungry, limits)), "0:spmm.slow 2:spmm.tf32 8:spmm.fp16 5s:spmm.sampled ");
    EXPECT_TRUE(error_front({}, {}).empty());
}

}  // namespace
}  // namespace gnntune::objectives_test
