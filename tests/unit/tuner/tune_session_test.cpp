// A graph's way through planning and tuning: what was found out about a problem is not found out again, but for what
// changes in between.
#include "tuner/tune_session.hpp"

#include <algorithm>

#include "tests/unit/tuner/tune_fixture.hpp"

namespace gnntune::tuner {
namespace {

std::vector<Params> (*plain_space)(const Query&) = nullptr;
int spaces_asked = 0;

std::vector<Params> counted_space(const Query& query) {
    ++spaces_asked;
    return plain_space(query);
}

Problem part_problem() {
    return {Op::sddmm, 16};
}

std::vector<Part> one_sddmm(const Query& query) {
    Problem part = part_problem();
    part.direction = query.problem.direction;
    return {{"sddmm", part}};
}

// spmm.cpu_rows as a composition: it computes without its part.
Variant whole = {};

Params own(const Params& params) {
    Params out;
    for (const auto& [name, value] : params.values()) {
        if (name != "sddmm") out.set(name, value);
    }
    return out;
}

Variant composition(const Variant& plain) {
    whole = plain;
    Variant v = plain;
    v.id = "spmm.whole";
    v.parts = &one_sddmm;
    v.valid = [](const Query& q, const Params& p) { return whole.valid(q, own(p)); };
    v.deterministic = [](const Params& p) { return whole.deterministic(own(p)); };
    v.formats = [](const Params& p) { return whole.formats(own(p)); };
    v.cost_terms = [](const Query& q, const Params& p) { return whole.cost_terms(q, own(p)); };
    v.prepare = [](const PrepareContext& c) { return whole.prepare({c.graph, c.query, own(c.params), c.stream}); };
    return v;
}

class TuneSessionTest : public TuneTest {
protected:
    void SetUp() override {
        TuneTest::SetUp();
        options_.problems = {part_problem(), spmm(Direction::forward, 16)};
        graph_ = std::make_unique<GraphWorkload>(registry_, cpu_device(), csr_);
        record_ = {graph_->graph().fingerprint(), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        Variant counted = *registry_.find("spmm.cpu_rows");
        plain_space = counted.space;
        spaces_asked = 0;
        counted.id = "spmm.counted";
        counted.space = &counted_space;
        registry_.add(counted);
    }
    /// Configs of the second problem that were measured.
    std::vector<std::string> plan_and_tune() {
        store::Store store = open();
        Tuner tuner(registry_, cpu_device(), store);
        TuneSession session = tuner.session(*graph_, record_, options_);
        planned_ = session.plan();
        EXPECT_TRUE(session.tune(store.begin_run(run_info()), {}));
        std::vector<std::string> configs;
        for (const Measurement& m : store.measurements(key(store, options_.problems.back()))) {
            configs.push_back(m.config.text());
        }
        return configs;
    }

    std::unique_ptr<GraphWorkload> graph_;
    std::vector<TuneStep> planned_;
};

TEST_F(TuneSessionTest, WhatWasPlannedIsNotFoundAgain) {
    const auto configs = plan_and_tune();
    EXPECT_EQ(spaces_asked, 1);
    EXPECT_TRUE(
        std::any_of(configs.begin(), configs.end(), [](const auto& c) { return c.starts_with("spmm.counted"); }));
}

// A composition is offered the fastest configs of its parts, and these were measured after the plan.
TEST_F(TuneSessionTest, ACompositionIsOfferedWhatWasMeasuredSinceThePlan) {
    registry_.add(composition(*registry_.find("spmm.cpu_rows")));
    const auto configs = plan_and_tune();
    EXPECT_EQ(spaces_asked, 2);
    const auto offered = std::count_if(configs.begin(), configs.end(), [](const std::string& config) {
        return config.starts_with("spmm.whole") && config.find("sddmm=sddmm.") != std::string::npos;
    });
    EXPECT_GE(offered, 1);
    ASSERT_EQ(planned_.size(), 2U);
    EXPECT_EQ(planned_.back().configs + static_cast<std::size_t>(offered), configs.size());
}

TEST_F(TuneSessionTest, WhatWasDoneBeforeIsToldBehindAStop) {
    options_.problems = {part_problem()};
    options_.policies = {Policy::hot};
    plan_and_tune();
    options_.policies = {Policy::cold, Policy::hot};
    store::Store store = open();
    Tuner tuner(registry_, cpu_device(), store);
    TuneSession session = tuner.session(*graph_, record_, options_);
    std::vector<Policy> told;
    TuneEvents events;
    events.stop = [] { return true; };
    events.step_ends = [&](const TuneStep& step, const Decision& decision, const auto&, const auto&) {
        EXPECT_TRUE(decision.winner);
        told.push_back(step.policy);
    };
    EXPECT_FALSE(session.tune(store.begin_run(run_info()), events));
    EXPECT_EQ(told, std::vector<Policy>{Policy::hot});
}

}  // namespace
}  // namespace gnntune::tuner
