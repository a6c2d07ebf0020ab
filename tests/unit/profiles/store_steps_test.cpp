// Choices for whole training steps in the store.
#include "profiles/store/store.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

class StoreStepsTest : public StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        store_.emplace(open());
        run_ = store_->begin_run(run_info());
        key_ = key_in(*store_);
        store_->add_measurement(run_, key_, measurement("spmm.a{i=1}", 10));
    }
    static StepChoice choice(std::optional<std::int64_t> limit, const std::string& config = "spmm.a{i=1}") {
        StepChoice c;
        c.step = "gcn 64,64";
        c.expected_steps = 200;
        c.format_limit_bytes = limit;
        c.formats = "csr reversed";
        c.format_bytes = 800;
        c.workspace_bytes = 16;
        c.build_us = 100;
        c.step_us = 20;
        c.reason = "cheapest";
        c.calls = {{problem(), 2, 1, Config::parse(config), 1, "none", 10}};
        return c;
    }
    void set(const StepChoice& c) {
        store_->set_step_choice(run_, key_.graph, key_.environment, Policy::hot, Clock::span, c);
    }

    std::optional<Store> store_;
    std::int64_t run_ = 0;
    Key key_;
};

TEST_F(StoreStepsTest, AreKeptByStepAndReplaced) {
    set(choice(std::nullopt));
    set(choice(1024));
    StepChoice other = choice(std::nullopt);
    other.step = "gat 8x8,7";
    set(other);

    const auto rows = store_->step_choices();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].choice.step, "gat 8x8,7");
    const StepChoiceRow& row = rows[1];
    EXPECT_EQ(row.graph, key_.graph);
    EXPECT_EQ(row.environment, key_.environment);
    EXPECT_EQ(row.graph_name, "cora");
    EXPECT_EQ(row.device_name, "NVIDIA H200");
    EXPECT_EQ(row.policy, Policy::hot);
    EXPECT_EQ(row.clock, Clock::span);
    EXPECT_EQ(row.run, run_);
    EXPECT_EQ(row.choice.format_limit_bytes, 1024);
    EXPECT_EQ(row.choice.expected_steps, 200);
    EXPECT_EQ(row.choice.formats, "csr reversed");
    EXPECT_EQ(row.choice.format_bytes, 800);
    EXPECT_EQ(row.choice.workspace_bytes, 16);
    EXPECT_EQ(row.choice.build_us, 100);
    EXPECT_EQ(row.choice.step_us, 20);
    ASSERT_EQ(row.choice.calls.size(), 1u);
    const StepCallChoice& call = row.choice.calls[0];
    EXPECT_EQ(call.problem, problem());
    EXPECT_EQ(call.runs_per_step, 2);
    EXPECT_EQ(call.runs_per_graph, 1);
    EXPECT_EQ(call.config.text(), "spmm.a{i=1}");
    EXPECT_EQ(call.formats, "none");
    EXPECT_EQ(call.expected_us, 10);
    EXPECT_EQ(store_->database().integer("SELECT count(*) FROM steps", "counting"), 2);
    EXPECT_EQ(store_->check(), std::vector<std::string>{});
}

TEST_F(StoreStepsTest, WhatWasNotMeasuredIsNotChosenAndChangesNothing) {
    set(choice(std::nullopt));
    EXPECT_TRUE(contains(error_of(ErrorKind::invalid_argument, [&] { set(choice(7, "spmm.a{i=2}")); }),
                         "no ok hot measurement"));
    EXPECT_EQ(store_->step_choices().at(0).choice.format_limit_bytes, std::nullopt);
    // A file that somebody edited is found out.
    Database::open(file(), Access::read_write_create).execute("UPDATE step_call SET config = 'spmm.a{i=2}'", "editing");
    const auto problems = store_->check();
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_TRUE(contains(problems[0], "the choice for step gcn 64,64 on cora"));
}

TEST_F(StoreStepsTest, AMergeTakesTheNewerOfEachWithItsCalls) {
    set(choice(7));
    {
        Store other = Store::open(file("other.db"), Mode::read_write_create);
        (void)other.problem_id(problem(16));  // other ids there
        const Key key = key_in(other);
        const std::int64_t run = other.begin_run({"tune other", "0.1.0", "abc", 1, "host"});
        other.add_measurement(run, key, measurement("spmm.a{i=2}", 9));
        StepChoice c = choice(8, "spmm.a{i=2}");
        other.set_step_choice(run, key.graph, key.environment, Policy::hot, Clock::span, c);
        c.step = "gat 8x8,7";
        other.set_step_choice(run, key.graph, key.environment, Policy::hot, Clock::span, c);
    }
    const auto date = [&](const std::string& name, const std::string& year) {
        Database::open(file(name), Access::read_write_create)
            .execute("UPDATE step_choice SET decided_at = '" + year + "-01-01T00:00:00Z' WHERE step LIKE 'gcn%'",
                     "dating");
    };
    date("other.db", "2020");
    store_->merge(file("other.db"));
    auto rows = store_->step_choices();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].choice.step, "gat 8x8,7");
    EXPECT_EQ(rows[0].choice.calls.at(0).config.text(), "spmm.a{i=2}");
    EXPECT_EQ(rows[0].choice.calls.at(0).problem, problem());
    EXPECT_EQ(rows[1].choice.format_limit_bytes, 7);

    date("test.db", "2021");
    date("other.db", "2022");
    for (int round = 0; round < 2; ++round) store_->merge(file("other.db"));
    rows = store_->step_choices();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].choice.format_limit_bytes, 8);
    EXPECT_EQ(rows[1].choice.calls.size(), 1u);
    EXPECT_EQ(store_->check(), std::vector<std::string>{});
}

}  // namespace
}  // namespace gnntune::store
