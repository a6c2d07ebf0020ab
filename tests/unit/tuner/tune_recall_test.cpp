// What was fast beneath another driver is measured again before anything new.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/registry/errata.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/store_fixture.hpp"
#include "tuner/recall.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {
namespace {

class TuneRecallTest : public store::StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        setenv("GNNTUNE_PROFILES", "", 1);  // nothing that came with this build
        register_all(registry_);
        csr_ = test::csr_of(40, 40, test::random_edges(40, 40, 300, 1, 3));
        sort_columns(csr_);
        record_ = {fingerprint(csr_.view()), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        device_ = cpu_device();
        options_.problems = {problem_};
        options_.clocks = {Clock::host};
        options_.measuring.min_samples = 5;
        options_.measuring.max_samples = 5;
    }

    /// Rows of an environment with other libraries, as an earlier tuning left them.
    void remember(const std::vector<std::pair<std::string, double>>& rows, const std::string& libraries,
                  const std::string& chosen = "", const std::string& taken_at = "2026-11-21T09:30:00Z") {
        store::Store store = open();
        Environment other = device_.environment;
        other.libraries = libraries;
        const store::Key key{store.graph_id(record_), store.environment_id(other), store.problem_id(problem_)};
        const std::int64_t run = store.begin_run(run_info());
        for (const auto& [config, us] : rows) {
            Measurement m = measurement(config, us);
            m.clock = Clock::host;
            m.variant_version = registry_.find(m.config.variant)->version;
            m.taken_at = taken_at;
            store.add_measurement(run, key, m);
        }
        if (chosen.empty()) return;
        Choice choice;
        choice.config = Config::parse(chosen);
        choice.variant_version = registry_.find(choice.config.variant)->version;
        choice.source = "measured";
        choice.expected_us = 1;
        store.set_choice(run, key, Policy::hot, Clock::host, choice);
    }
    std::vector<std::string> recalled_now() {
        GraphWorkload graph(registry_, device_, csr_);
        const store::Store store = open();
        const Query query = graph.graph().query(problem_);
        std::vector<std::string> out;
        for (const Config& c : recalled(store, registry_, query, record_.fingerprint, Policy::hot, Clock::host)) {
            out.push_back(c.text());
        }
        return out;
    }
    /// The configs that a tuning takes here, in its order, until `most` are measured.
    std::vector<std::string> tuned(std::size_t most) {
        store::Store store = open();
        GraphWorkload graph(registry_, device_, csr_);
        std::vector<std::string> order;
        TuneEvents events;
        events.measured = [&](const Measurement& m, double) { order.push_back(m.config.text()); };
        events.stop = [&] { return order.size() >= most; };
        const std::int64_t run = store.begin_run(run_info());
        Tuner(registry_, device_, store).tune(graph, record_, options_, run, events);
        store.end_run(run);
        return order;
    }

    const Problem problem_{Op::spmm, 33, 1, DType::f32, Reduce::sum, true, Direction::forward};
    Registry registry_;
    CsrGraph csr_;
    GraphRecord record_;
    Device device_;
    TuneOptions options_;
};

const std::vector<std::pair<std::string, double>> kRows{{"spmm.cpu_edges{parts=8}", 10},
                                                        {"spmm.cpu_edges{parts=64}", 12},
                                                        {"spmm.cpu_rows{tile=16,row_block=16}", 11},
                                                        {"spmm.cpu_edges{parts=512}", 13}};

TEST_F(TuneRecallTest, TheChoiceThenTheNearFastestOfTheNewestNearEnvironment) {
    EXPECT_EQ(recalled_now(), std::vector<std::string>{});
    remember(kRows, "older", "spmm.cpu_edges{parts=512}");
    const std::vector<std::string> expected{"spmm.cpu_edges{parts=512}", "spmm.cpu_edges{parts=8}",
                                            "spmm.cpu_rows{tile=16,row_block=16}", "spmm.cpu_edges{parts=64}"};
    EXPECT_EQ(recalled_now(), expected);
    remember({{"spmm.cpu_edges{parts=64}", 5}, {"spmm.cpu_edges{parts=8}", 50}}, "oldest", "", "2026-11-20T09:30:00Z");
    EXPECT_EQ(recalled_now(), expected);
    remember({{"spmm.cpu_edges{parts=64}", 5}, {"spmm.cpu_edges{parts=8}", 50}}, "newer", "", "2026-11-22T09:30:00Z");
    EXPECT_EQ(recalled_now(), std::vector<std::string>{"spmm.cpu_edges{parts=64}"});
}

TEST_F(TuneRecallTest, OtherDevicesAndErrataAreNotRecalled) {
    remember(kRows, "older");
    device_.errata = std::make_shared<const Errata>(
        std::vector{parse_erratum("variant=spmm.cpu_edges param.parts=8", "known to be wrong")});
    const auto left = recalled_now();
    EXPECT_EQ(left.size(), 3u);
    EXPECT_EQ(std::count(left.begin(), left.end(), "spmm.cpu_edges{parts=8}"), 0);
    device_.environment.device_name = "another";
    EXPECT_EQ(recalled_now(), std::vector<std::string>{});
}

TEST_F(TuneRecallTest, TuningTakesThemRightBehindTheDefault) {
    remember(kRows, "older", "spmm.cpu_edges{parts=512}");
    for (const bool exhaustive : {false, true}) {
        std::filesystem::remove(file());
        remember(kRows, "older", "spmm.cpu_edges{parts=512}");
        options_.exhaustive = exhaustive;
        options_.group = 1;
        const Config standard =
            registry_.default_config(GraphWorkload(registry_, device_, csr_).graph().query(problem_), {});
        std::vector<std::string> expected{standard.text()};
        for (const std::string& text : recalled_now()) {
            if (text != standard.text()) expected.push_back(text);
        }
        auto first = tuned(1000);
        ASSERT_GE(first.size(), expected.size());
        first.resize(expected.size());
        if (!exhaustive) {  // those of a group are taken in turns
            std::sort(first.begin(), first.end());
            std::sort(expected.begin(), expected.end());
        }
        EXPECT_EQ(first, expected) << exhaustive;
    }
}

TEST_F(TuneRecallTest, TuningLeavesErrataOut) {
    options_.exhaustive = true;
    device_.errata =
        std::make_shared<const Errata>(std::vector{parse_erratum("variant=spmm.cpu_edges", "known to be wrong")});
    remember(kRows, "older");
    const auto taken = tuned(100000);
    EXPECT_FALSE(taken.empty());
    for (const std::string& config : taken) EXPECT_FALSE(config.starts_with("spmm.cpu_edges")) << config;
    GraphWorkload graph(registry_, device_, csr_);
    store::Store store = open();
    EXPECT_GT(Tuner(registry_, device_, store).plan(graph, record_, options_).front().errata, 0u);
    options_.configs = {Config::parse("spmm.cpu_edges{parts=8}")};
    EXPECT_THROW(tuned(1), Error);
}

}  // namespace
}  // namespace gnntune::tuner
