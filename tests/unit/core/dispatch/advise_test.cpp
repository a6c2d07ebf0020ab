// Model or default: which is tried first where nothing was measured, and what is said about it.
#include "core/dispatch/advise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

class Advise : public testing::Test {
protected:
    Advise() {
        register_all(registry_);
        const auto csr = test::csr_of(50, 50, test::random_edges(50, 50, 300, 2, 7));
        features_ = features_of(csr.view());
        problem_.k = 64;
        standard_ = registry_.default_config(query(), {});
    }
    Query query() const { return {problem_, 50, 50, 300, &features_, &device_}; }

    /// A model of constants: `slowdowns` by variant, natural logarithms.
    model::Model model(const std::vector<std::pair<std::string, float>>& slowdowns) const {
        model::Model m;
        m.backend = Backend::cpu;
        m.level = {constant(0)};
        m.level_spread = 0.3F;
        for (const auto& [id, value] : slowdowns) {
            m.variants.push_back({id, registry_.find(id)->version, {}, {constant(value)}, 0.4F});
        }
        return m;
    }
    static model::Forest constant(float value) { return {value, {}, {}, {}}; }
    Advice advice(const model::Model& m, const Constraints& constraints = {}, const BuildCost& build = {}) const {
        const Prospects prospects(m, registry_, query());
        Advice a = advise(m, prospects, registry_, query(), {}, constraints, build);
        if (!a.better.empty()) first_ = prospects.candidates()[a.better.front().candidate].config.variant;
        return a;
    }

    Registry registry_;
    Device device_ = cpu_device();
    Problem problem_;
    Features features_;
    Config standard_;
    mutable std::string first_;
};

TEST_F(Advise, TheDefaultIsLeftForAGainAboveTheMarginOnly) {
    ASSERT_EQ(standard_.variant, "spmm.cpu_rows");
    const auto with_gain = [&](double gain) {
        return advice(model({{"spmm.cpu_rows", static_cast<float>(std::log(1 + gain))}, {"spmm.cpu_edges", 0}}));
    };
    const Advice more = with_gain(kLeastGain * 1.2);
    ASSERT_FALSE(more.better.empty());
    EXPECT_EQ(first_, "spmm.cpu_edges");
    EXPECT_EQ(more.standard, standard_);
    EXPECT_NEAR(more.expected_standard->us / more.better.front().us, 1 + kLeastGain * 1.2, 1e-4);
    EXPECT_NEAR(more.better.front().sigma, 0.5, 1e-6) << "of the level and of the config";
    EXPECT_NE(more.reason.find("the default spmm.cpu_rows"), std::string::npos) << more.reason;
    const Advice less = with_gain(kLeastGain * 0.8);
    EXPECT_TRUE(less.better.empty());
    EXPECT_TRUE(less.expected_standard.has_value());
    EXPECT_NE(less.reason.find("expects no config to gain 2 %"), std::string::npos) << less.reason;
}

TEST_F(Advise, ALibrarysRoutineComesFirstOnlyWhereItPromisesMoreThanItsMargin) {
    ASSERT_TRUE(registry_.find("spmm.eigen")->baseline);
    const auto with_lead = [&](double lead) {
        return advice(model(
            {{"spmm.cpu_rows", 1.0F}, {"spmm.cpu_edges", static_cast<float>(std::log1p(lead))}, {"spmm.eigen", 0}}));
    };
    ASSERT_FALSE(with_lead(model::kLibraryMargin * 0.8).better.empty());
    EXPECT_EQ(first_, "spmm.cpu_edges");
    ASSERT_FALSE(with_lead(model::kLibraryMargin * 1.2).better.empty());
    EXPECT_EQ(first_, "spmm.eigen");
}

TEST_F(Advise, BuildingCountsOverTheExpectedCalls) {
    const auto m = model({{"spmm.cpu_rows", 1}, {"spmm.cpu_edges", 0}});
    const BuildCost build = [](const Config& c) { return c.variant == "spmm.cpu_edges" ? 1000.0 : 0.0; };
    Constraints constraints;
    constraints.expected_calls = 1;
    EXPECT_TRUE(advice(m, constraints, build).better.empty());
    constraints.expected_calls = 1e6;
    const Advice often = advice(m, constraints, build);
    ASSERT_FALSE(often.better.empty());
    EXPECT_EQ(often.better.front().build_us, 1000);
}

TEST_F(Advise, InexactConfigsAreNoProspectsWhateverIsAllowed) {
    const auto m = model({{"spmm.cpu_rows", 1}, {"spmm.cpu_edges", 0}, {"spmm.cpu_sampled", -5}});
    Constraints constraints;
    constraints.max_error = 1;
    constraints.allow_sampling = true;
    EXPECT_FALSE(advice(m, constraints).better.empty());
    EXPECT_EQ(first_, "spmm.cpu_edges");
    EXPECT_EQ(Prospects(m, registry_, {Config::parse("spmm.cpu_sampled{width=16}")}).candidates().size(), 0U);
    EXPECT_FALSE(unmeasured(*registry_.find("spmm.cpu_sampled"), {}).max_error <= 1e300);
}

TEST_F(Advise, AModelThatDoesNotKnowTheDefaultOrAnythingIsNotFollowed) {
    const Advice other = advice(model({{"spmm.cpu_edges", 0}}));
    EXPECT_TRUE(other.better.empty());
    EXPECT_NE(other.reason.find("does not know the default spmm.cpu_rows"), std::string::npos) << other.reason;
    auto stale = model({{"spmm.cpu_edges", 0}});
    stale.variants.front().version += 1;
    const Advice nothing = advice(stale);
    EXPECT_EQ(nothing.asked, 0U);
    EXPECT_NE(nothing.reason.find("in its version"), std::string::npos) << nothing.reason;
}

TEST_F(Advise, WhatAModelDoesNotRankIsLeftToTheDefaultAndSaysSo) {
    auto m = model({{"spmm.cpu_rows", 1}, {"spmm.cpu_edges", 0}});
    ASSERT_FALSE(advice(m).better.empty());
    problem_.reduce = Reduce::max;
    const Advice maximum = advice(m);
    EXPECT_EQ(maximum.asked, 0U);
    EXPECT_TRUE(maximum.standard.has_value());
    EXPECT_NE(maximum.reason.find("has not learnt from maxima"), std::string::npos) << maximum.reason;
    m.kinds.maxima = true;
    EXPECT_GT(advice(m).asked, 0U);
    problem_.dtype = DType::bf16;
    EXPECT_NE(advice(m).reason.find("has not learnt from storage in 16 bits"), std::string::npos) << advice(m).reason;
}

TEST_F(Advise, AVariantThatPrefersTheGraphIsTheDefaultOfManyCalls) {
    const auto with = [&](auto change) {
        Registry out;
        for (const Variant& v : registry_.variants()) {
            Variant changed = v;
            if (std::string_view(v.id) == "spmm.cpu_edges") change(changed);
            out.add(changed);
        }
        return out;
    };
    const Registry prefers = with(
        [](Variant& v) { v.preferred = [](const Query& q) { return q.features && q.features->counts.m == 300; }; });
    EXPECT_FALSE(registry_.default_sees_features(Op::spmm, Backend::cpu));
    EXPECT_TRUE(prefers.default_sees_features(Op::spmm, Backend::cpu));
    EXPECT_FALSE(prefers.default_sees_features(Op::sddmm, Backend::cpu));
    const Registry composed = with([](Variant& v) {
        v.preferred = [](const Query&) { return true; };
        v.parts = [](const Query&) { return std::vector<Part>{}; };
    });
    EXPECT_FALSE(composed.default_sees_features(Op::spmm, Backend::cpu)) << "a composition goes by sizes";

    Constraints constraints;
    EXPECT_EQ(exact_default(prefers, query(), constraints).variant, "spmm.cpu_edges");
    constraints.expected_calls = kCallsOfPreferred - 1;
    EXPECT_EQ(exact_default(prefers, query(), constraints).variant, "spmm.cpu_rows")
        << "its formats cost more than it gains";
    Query other = query();
    other.features = nullptr;
    EXPECT_EQ(exact_default(prefers, other, {}).variant, "spmm.cpu_rows");
    const Registry refuses = with([](Variant& v) {
        v.preferred = [](const Query&) { return true; };
        v.applicable = [](const Query&) { return Verdict::no("planted"); };
    });
    EXPECT_EQ(exact_default(refuses, query(), {}).variant, "spmm.cpu_rows");
}

TEST_F(Advise, ConstraintsRefuseAndWithoutADefaultTheBestIsTried) {
    const auto m = model({{"spmm.cpu_rows", 1}, {"spmm.cpu_edges", 0}});
    Constraints constraints;
    constraints.operand_alignment = 1;  // nobody takes that
    const Advice none = advice(m, constraints);
    EXPECT_FALSE(none.standard.has_value());
    EXPECT_TRUE(none.better.empty());
    EXPECT_EQ(none.rejected.size(), none.asked);
    EXPECT_NE(none.reason.find("breaks a constraint"), std::string::npos) << none.reason;
    // An op whose default is refused while another config is not: nothing to stay with.
    Registry odd;
    for (const Variant& v : registry_.variants()) {
        Variant changed = v;
        if (std::string_view(v.id) == "spmm.cpu_rows") {
            changed.deterministic = [](const Params& p) { return *p.find("tile") == "16"; };
        } else if (v.op == Op::spmm) {
            continue;
        }
        odd.add(changed);
    }
    Constraints repeatable;
    repeatable.deterministic = true;
    ASSERT_NE(*standard_.params.find("tile"), "16");
    const Prospects prospects(m, odd, query());
    const Advice a = advise(m, prospects, odd, query(), {}, repeatable);
    EXPECT_FALSE(a.standard.has_value());
    ASSERT_FALSE(a.better.empty());
    EXPECT_EQ(*prospects.candidates()[a.better.front().candidate].config.params.find("tile"), "16");
    EXPECT_NE(a.reason.find("there is no default"), std::string::npos) << a.reason;
}

TEST_F(Advise, WhatASearchOfTheGraphLeavesOutIsNotChosen) {
    Registry narrow;
    for (const Variant& v : registry_.variants()) {
        Variant changed = v;
        if (std::string_view(v.id) == "spmm.cpu_edges") {
            changed.searched = [](const Query& q, const Params&) { return !q.features || q.m < 300; };
        }
        narrow.add(changed);
    }
    const auto m = model({{"spmm.cpu_rows", 1}, {"spmm.cpu_edges", 0}});
    const Prospects prospects(m, narrow, query());
    const auto asked = [&](std::int64_t edges) {
        Query q = query();
        q.m = edges;
        return advise(m, prospects, narrow, q, {}, {});
    };
    const Advice few = asked(299);
    const Advice many = asked(300);
    ASSERT_FALSE(few.better.empty());
    EXPECT_EQ(prospects.candidates()[few.better.front().candidate].config.variant, "spmm.cpu_edges");
    for (const Expected& e : many.better) {
        EXPECT_EQ(prospects.candidates()[e.candidate].config.variant, "spmm.cpu_rows");
    }
    EXPECT_LT(many.asked, few.asked);
    EXPECT_TRUE(many.expected_standard.has_value());
}

TEST_F(Advise, TheDefaultIsKnownEvenWhereASearchLeavesItOut) {
    Registry none;
    for (const Variant& v : registry_.variants()) {
        Variant changed = v;
        changed.searched = [](const Query&, const Params&) { return false; };
        none.add(changed);
    }
    const auto m = model({{"spmm.cpu_rows", 1}, {"spmm.cpu_edges", 0}});
    const Advice a = advise(m, Prospects(m, none, query()), none, query(), {}, {});
    EXPECT_EQ(a.standard, standard_);
    EXPECT_TRUE(a.expected_standard.has_value());
    EXPECT_TRUE(a.better.empty());
    EXPECT_EQ(a.asked, 1U);
}

TEST_F(Advise, ProspectsDoNotDependOnTheGraph) {
    const auto m = model({{"spmm.cpu_rows", 1}});
    Query empty = query();
    empty.n_rows = empty.n_cols = empty.m = 0;
    const auto texts = [](const Prospects& p) {
        std::vector<std::string> out;
        for (const Candidate& c : p.candidates()) out.push_back(c.config.text());
        return out;
    };
    const auto all = texts(Prospects(m, registry_, query()));
    EXPECT_EQ(texts(Prospects(m, registry_, empty)), all);
    for (const Variant& v : registry_.variants()) {
        if (v.approximate || v.precision != Precision::fp32 || !registry_.applicable(v, query())) continue;
        for (const Params& p : v.space(query())) {
            EXPECT_NE(std::find(all.begin(), all.end(), Config{v.id, p}.text()), all.end()) << v.id << " " << p.text();
        }
    }
}

}  // namespace
}  // namespace gnntune
