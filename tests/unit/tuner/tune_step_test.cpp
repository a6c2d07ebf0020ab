// A whole training step, tuned on the CPU and chosen from the rows.
#include <gtest/gtest.h>

#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/store_fixture.hpp"
#include "tuner/measuring/frontier.hpp"
#include "tuner/step_options.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {
namespace {

class TuneStepTest : public store::StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        register_all(registry_);
        csr_ = test::csr_of(60, 60, test::random_edges(60, 60, 500, 1, 3));
        options_.clocks = {Clock::host};
        options_.measuring.min_samples = 5;
        options_.measuring.max_samples = 5;
        options_.every_format = true;
        options_.max_configs = 1;
    }

    /// A variant of the CPU that asks for COO, whatever it does with it: here nothing, so that it is the slower for
    /// building more.
    void add_coo_variant() {
        Variant v = *registry_.find("spmm.cpu_rows");
        v.id = "spmm.asks_for_coo";
        v.default_rank = 500;
        v.formats = [](const Params&) { return std::vector<std::string_view>{kFormatCoo}; };
        registry_.add(v);
    }

    StepDecision tune_and_choose(const Step& step, const StepLimits& limits) {
        GraphWorkload graph(registry_, cpu_device(), csr_);
        const GraphRecord record{graph.graph().fingerprint(), 60, 60, csr_.m(), "test", "generated", "{}"};
        options_.problems.clear();
        for (const StepCall& call : calls_of(step)) options_.problems.push_back(call.problem);
        store_.emplace(open());
        const std::int64_t run = store_->begin_run(run_info());
        EXPECT_TRUE(Tuner(registry_, cpu_device(), *store_).tune(graph, record, options_, run, {}));
        const auto query_of = [&](const Problem& p) { return graph.graph().query(p); };
        graph_ = store_->graph_id(record);
        environment_ = store_->environment_id(cpu_device().environment);
        from_.emplace(step_options(registry_, *store_, step, graph_, environment_, Policy::hot, Clock::host, query_of));
        StepDecision decision = choose_step(from_->formats, from_->options, limits);
        if (decision.picks) {
            store_->set_step_choice(run, graph_, environment_, Policy::hot, Clock::host,
                                    stored_step(registry_, step, *from_, decision, limits));
            defaults_ = default_picks(registry_, *from_, query_of);
        }
        return decision;
    }

    Registry registry_;
    CsrGraph csr_;
    TuneOptions options_;
    std::optional<store::Store> store_;
    std::optional<StepOptions> from_;
    std::optional<Picks> defaults_;
    std::int64_t graph_ = 0;
    std::int64_t environment_ = 0;
};

TEST(Frontier, AConfigThatHoldsMoreFormatsIsNoReasonToGiveOneUp) {
    Frontier frontier;
    const auto with_bytes = [](std::int64_t bytes) {
        Frontier::Traits traits;
        traits.format_bytes = bytes;
        return traits;
    };
    frontier.add(with_bytes(100), 1);
    EXPECT_EQ(frontier.best_for(with_bytes(100)), 1);
    EXPECT_EQ(frontier.best_for(with_bytes(101)), 1);
    EXPECT_GT(frontier.best_for(with_bytes(99)), 1e300);
    EXPECT_EQ(frontier.best(), 1);
}

TEST_F(TuneStepTest, EveryModelIsTunedChosenAndStored) {
    for (const Step& step :
         {Step{StepModel::gcn, {{16}, {5}}}, Step{StepModel::gat, {{4, 3}, {5}}}, Step{StepModel::agnn, {{8}, {8}}}}) {
        const std::string text = to_text(step);
        const StepDecision decision = tune_and_choose(step, {});
        ASSERT_TRUE(decision.picks) << decision.reason;
        EXPECT_EQ(from_->formats.text(decision.cost.formats), "csr reversed") << text;
        EXPECT_EQ(decision.cost.format_bytes, 4 * (61 + 2 * csr_.m())) << text;
        ASSERT_TRUE(defaults_) << text;
        bool stored = false;
        for (const auto& row : store_->step_choices()) {
            if (row.choice.step != text) continue;
            stored = true;
            EXPECT_EQ(row.choice.calls.size(), calls_of(step).size());
            EXPECT_EQ(row.choice.formats, "csr reversed");
            EXPECT_DOUBLE_EQ(row.choice.step_us, decision.cost.step_us);
        }
        EXPECT_TRUE(stored) << text;
    }
    EXPECT_EQ(store_->check(), std::vector<std::string>{});
}

TEST_F(TuneStepTest, ASearchLeavesAConfigForEveryLimitOfMemory) {
    add_coo_variant();
    const Step step = Step{StepModel::gcn, {{16}, {16}}};
    const std::int64_t coo_bytes = 4 * csr_.m();
    StepLimits limits;
    // One config by search, and yet there is one that needs COO and no other format.
    limits.format_bytes = static_cast<std::size_t>(coo_bytes) + 4096;
    ASSERT_LT(limits.format_bytes, static_cast<std::size_t>(8 * csr_.m() + 244 + 4096));
    StepDecision decision = tune_and_choose(step, limits);
    ASSERT_TRUE(decision.picks) << decision.reason;
    std::size_t with_coo = 0;
    for (const CallOptions& call : from_->options) {
        for (const CallOption& o : call.options) with_coo += o.candidate.config.variant == "spmm.asks_for_coo" ? 1 : 0;
    }
    EXPECT_GE(with_coo, 1u);
    limits.format_bytes = static_cast<std::size_t>(coo_bytes) - 1;
    decision = choose_step(from_->formats, from_->options, limits);
    EXPECT_FALSE(decision.picks);
    limits.format_bytes = static_cast<std::size_t>(coo_bytes + decision.cost.workspace_bytes) + 240;
    decision = choose_step(from_->formats, from_->options, limits);
    ASSERT_TRUE(decision.picks) << decision.reason;
    EXPECT_EQ(from_->formats.text(decision.cost.formats), "coo");

    // Without being asked for every format it stays with what is best.
    options_.every_format = false;
    registry_ = Registry();
    register_all(registry_);
    add_coo_variant();
    std::filesystem::remove(file());
    tune_and_choose(step, {});
    for (const CallOptions& call : from_->options) {
        for (const CallOption& o : call.options) EXPECT_NE(o.candidate.config.variant, "spmm.asks_for_coo");
    }
}

}  // namespace
}  // namespace gnntune::tuner
