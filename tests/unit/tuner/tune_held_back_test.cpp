// What errata hold back is not measured: by a tuning as by tune_on_miss (library_errata_test.cpp, the same cases).
#include "core/dispatch/plan.hpp"
#include "core/registry/errata.hpp"
#include "tests/unit/common/held_back_cases.hpp"
#include "tests/unit/tuner/tune_fixture.hpp"
#include "tuner/measuring/measurable.hpp"

namespace gnntune::tuner {
namespace {

std::vector<Part> one_spmm(const Query& q) {
    return {{"spmm", q.problem, "spmm.cpu_edges{parts=8}"}};
}

class TuneHeldBackTest : public TuneTest {
protected:
    void forbid(const std::string& condition) {
        device_.errata = std::make_shared<const Errata>(std::vector{parse_erratum(condition, "known to be wrong")});
    }
    /// What a tuning of everything has stored, whatever came of it.
    std::vector<Measurement> tuned() {
        options_.problems = {problem_};
        store::Store store = open();
        GraphWorkload graph(registry_, device_, csr_);
        record_ = {graph.graph().fingerprint(), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        const std::int64_t run = store.begin_run(run_info());
        Tuner(registry_, device_, store).tune(graph, record_, options_, run, {});
        store.end_run(run);
        const auto rows = store.measurements(
            {store.graph_id(record_), store.environment_id(device_.environment), store.problem_id(problem_)});
        std::filesystem::remove(file());
        return rows;
    }

    const Problem problem_ = spmm(Direction::forward, 8);
    Device device_ = cpu_device();
};

TEST_F(TuneHeldBackTest, NothingIsStoredOfIt) {
    const auto all = tuned();
    for (const test::HeldBackCase& one : test::kHeldBackCases) {
        const auto covered = std::count_if(all.begin(), all.end(), [&](const auto& m) { return one.covers(m.config); });
        forbid(one.condition);
        const auto rows = tuned();
        for (const Measurement& m : rows) EXPECT_FALSE(one.covers(m.config)) << one.condition << m.config.text();
        EXPECT_EQ(rows.size() + static_cast<std::size_t>(covered), all.size()) << one.condition;
    }
}

TEST_F(TuneHeldBackTest, APartHoldsTheCompositionBack) {
    Variant whole = *registry_.find("spmm.cpu_rows");
    whole.id = "spmm.whole";
    whole.parts = &one_spmm;
    registry_.add(whole);
    const auto wholes = [](const std::vector<Config>& configs) {
        return std::count_if(configs.begin(), configs.end(), [](const Config& c) { return c.variant == "spmm.whole"; });
    };
    const auto every = [](const Variant&) { return true; };
    for (const bool held : {false, true}) {
        if (held) forbid("variant=spmm.cpu_edges param.parts=8");
        GraphWorkload graph(registry_, device_, csr_);
        const auto measurable = measurable_configs(registry_, graph.graph().query(problem_), every);
        EXPECT_EQ(wholes(measurable.configs) == 0, held);
        EXPECT_EQ(measurable.held_back == 0, !held);
        EXPECT_EQ(measurable.held_back_by.size(), held ? 1U : 0U);
        EXPECT_TRUE(measurable.refusals.empty() || measurable.refusals.front().first->id != whole.id);
    }
}

}  // namespace
}  // namespace gnntune::tuner
