// Which stored measurements may be chosen from, whoever reads them.
#include "core/dispatch/candidates.hpp"

#include <gtest/gtest.h>

#include "core/registry/errata.hpp"
#include "kernels/register_all.hpp"

namespace gnntune {
namespace {

const Config kWhole = Config::parse("spmm.whole{tile=16,row_block=16}");
const Config kPart = Config::parse("spmm.cpu_edges{parts=8}");

std::vector<Part> one_spmm(const Query& q) {
    return {{"spmm", q.problem}};
}
bool never(const Params&) {
    return false;
}

// A composition with one part, and a plain variant that cannot be captured.
class Candidates : public testing::Test {
protected:
    Candidates() {
        register_all(registry_);
        Variant whole = *registry_.find("spmm.cpu_rows");
        whole.id = "spmm.whole";
        whole.parts = &one_spmm;
        registry_.add(whole);
        Variant fixed = *registry_.find("spmm.cpu_edges");
        fixed.id = "spmm.fixed";
        fixed.capturable = &never;
        registry_.add(fixed);
        device_ = cpu_device();
        query_ = {
            {Op::spmm, 8, 1, DType::f32, Reduce::sum, true, Direction::forward}, 100, 100, 1000, nullptr, &device_};
    }
    std::int32_t version(const Config& config) const { return registry_.find(config.variant)->version; }
    Measurement measured(const Config& config, const std::vector<Config>& parts = {}) const {
        Measurement m;
        m.config = config;
        m.variant_version = version(config);
        for (const Config& part : parts) m.parts.push_back({part, version(part)});
        m.status = MeasurementStatus::ok;
        m.median_us = 10;
        m.deterministic = true;
        return m;
    }
    std::string fallen(const Measurement& m) const {
        return why_fallen(registry_, query_, m.config, m.variant_version, m.parts);
    }
    void forbid(const std::string& condition) {
        device_.errata = std::make_shared<const Errata>(std::vector{parse_erratum(condition, "known to be wrong")});
    }

    Registry registry_;
    Device device_;
    Query query_;
};

TEST_F(Candidates, ARowStandsUntilAnErratumHoldsItOrItsPartBack) {
    const Measurement whole = measured(kWhole, {kPart});
    EXPECT_EQ(fallen(whole), "");
    ASSERT_EQ(candidates_of(registry_, query_, {whole}).size(), 1U);
    for (const auto& [condition, words] : {std::pair("variant=spmm.whole", "must not run: erratum: known to be wrong"),
                                           std::pair("variant=spmm.cpu_edges param.parts=8",
                                                     "must not run: erratum of its part spmm.cpu_edges{parts=8}")}) {
        forbid(condition);
        EXPECT_TRUE(fallen(whole).starts_with(words)) << fallen(whole);
        EXPECT_TRUE(candidates_of(registry_, query_, {whole}).empty()) << condition;
        EXPECT_FALSE(stands(registry_, query_, whole)) << condition;
    }
    forbid("variant=spmm.cpu_edges param.parts=64");
    EXPECT_TRUE(stands(registry_, query_, whole));
}

TEST_F(Candidates, WhatHasChangedSinceIsNamed) {
    Measurement m = measured(kWhole, {kPart});
    m.parts[0].variant_version += 1;
    EXPECT_TRUE(fallen(m).starts_with("its part spmm.cpu_edges{parts=8} was measured with version")) << fallen(m);
    m.parts[0] = {Config::parse("spmm.gone"), 3};
    EXPECT_EQ(fallen(m), "its part spmm.gone was measured with version 3, this build has none");
    m = measured(kPart);
    m.variant_version = 77;
    EXPECT_TRUE(fallen(m).starts_with("measured with version 77, this build has version ")) << fallen(m);
    m.config = Config::parse("spmm.gone{x=1}");
    EXPECT_EQ(fallen(m), "this build has no variant 'spmm.gone'");
    m = measured(Config::parse("spmm.cpu_edges{parts=0}"));
    EXPECT_NE(fallen(m), "");
    m = measured(kPart);
    query_.problem.op = Op::sddmm;
    EXPECT_NE(fallen(m), "");
}

TEST_F(Candidates, AConfigRunsWithThePartsThatItWasMeasuredWith) {
    const Config today = registry_.default_part(query_);
    const Config other = today == kPart ? Config::parse("spmm.cpu_edges{parts=64}") : kPart;
    const Config named = Config::parse("spmm.whole{tile=16,row_block=16,spmm=" + other.text() + "}");
    const auto as_measured_with = [&](const Config& config, const std::vector<Config>& parts) {
        const Measurement m = measured(config, parts);
        return as_measured(registry_, query_, m.config, m.parts).text();
    };
    EXPECT_EQ(as_measured_with(kWhole, {today}), kWhole.text());
    EXPECT_EQ(as_measured_with(kWhole, {other}), named.text());
    EXPECT_EQ(as_measured_with(named, {other}), named.text());
    // Rows of before there were parts, and of what has none.
    EXPECT_EQ(as_measured_with(kWhole, {}), kWhole.text());
    EXPECT_EQ(as_measured_with(kPart, {}), kPart.text());
    // A part that cannot run here, or no more.
    Measurement m = measured(kWhole, {other});
    m.parts[0].config = Config::parse("spmm.cpu_edges{parts=0}");
    EXPECT_EQ(as_measured(registry_, query_, m.config, m.parts), kWhole);
    m.parts[0].config = Config::parse("spmm.gone{x=1}");
    EXPECT_EQ(as_measured(registry_, query_, m.config, m.parts), kWhole);
}

TEST_F(Candidates, APartThatCannotBeCapturedKeepsTheWholeFromIt) {
    const Config fixed = Config::parse("spmm.fixed{parts=8}");
    const auto candidates =
        candidates_of(registry_, query_, {measured(kWhole, {fixed}), measured(kPart), measured(fixed)});
    ASSERT_EQ(candidates.size(), 3U);
    for (const Candidate& c : candidates) EXPECT_EQ(c.capturable, c.config == kPart) << c.config.text();
    const Decision decision = choose(candidates, {});
    ASSERT_TRUE(decision.winner);
    EXPECT_EQ(candidates[*decision.winner].config, kPart);
}

// The row of a device that promised more than its variant does now.
TEST_F(Candidates, ARowRepeatsOnlyIfItsConfigDoes) {
    registry_ = Registry();
    register_all(registry_);
    Variant loose = *registry_.find("spmm.cpu_edges");
    loose.id = "spmm.loose";
    loose.deterministic = &never;
    registry_.add(loose);
    const auto candidates = candidates_of(registry_, query_, {measured(Config::parse("spmm.loose{parts=8}"))});
    ASSERT_EQ(candidates.size(), 1U);
    EXPECT_FALSE(candidates[0].deterministic);
}

TEST_F(Candidates, TheNewestRowOfAConfigCounts) {
    Measurement old = measured(kPart);
    Measurement fresh = old;
    fresh.median_us = 20;
    auto candidates = candidates_of(registry_, query_, {old, fresh});
    ASSERT_EQ(candidates.size(), 1U);
    EXPECT_EQ(candidates[0].median_us, 20);
    fresh.status = MeasurementStatus::wrong;
    EXPECT_TRUE(candidates_of(registry_, query_, {old, fresh}).empty());
    fresh.variant_version += 1;
    Choice before;
    before.config = kPart;
    before.variant_version = old.variant_version;
    candidates = candidates_of(registry_, query_, {old, fresh}, before);
    ASSERT_EQ(candidates.size(), 1U) << "what another version did says nothing";
    EXPECT_TRUE(candidates[0].incumbent);
}

}  // namespace
}  // namespace gnntune
