// Profiling where there are no counters: the measurement is there all the same, and nothing is chosen by it.
#include "tuner/profile.hpp"

#include <gtest/gtest.h>

#include "kernels/register_all.hpp"
#include "tests/conformance/faulty/faulty.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::tuner {
namespace {

class ProfileTest : public store::StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        register_all(registry_);
        csr_ = test::csr_of(40, 40, test::random_edges(40, 40, 300, 1, 3));
        task_.problem.op = Op::spmm;
        task_.problem.k = 33;
        task_.clock = Clock::host;
    }

    Measurement profile(store::Store& store, const Config& config) {
        GraphWorkload graph(registry_, cpu_device(), csr_);
        record_ = {graph.graph().fingerprint(), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        task_.config = config;
        Profiler profiler(registry_, cpu_device(), store, 1);
        const Measurement m = profiler.profile(graph, record_, task_, store.begin_run(run_info()));
        why_not_ = profiler.why_not();
        return m;
    }
    Config config_of(const char* id) {
        Query query{task_.problem, csr_.n_rows, csr_.n_cols, csr_.m(), nullptr, nullptr};
        return {id, registry_.find(id)->default_params(query)};
    }
    std::vector<Measurement> rows(store::Store& store) {
        return store.measurements(
            {store.graph_id(record_), store.environment_id(cpu_device().environment), store.problem_id(task_.problem)});
    }

    Registry registry_;
    CsrGraph csr_;
    GraphRecord record_;
    ProfileTask task_;
    std::optional<Error> why_not_;
};

TEST_F(ProfileTest, MeasuresTheDefaultBesideItAndChoosesNothing) {
    store::Store store = open();

    const Measurement m = profile(store, config_of("spmm.cpu_edges"));

    EXPECT_EQ(m.status, MeasurementStatus::ok);
    EXPECT_GT(m.median_us, 0);
    EXPECT_FALSE(m.counters.has_value());
    ASSERT_TRUE(why_not_.has_value());
    EXPECT_EQ(why_not_->kind(), ErrorKind::no_device);
    const auto stored = rows(store);
    ASSERT_EQ(stored.size(), 2u);
    // They take turns, so either may be done first.
    EXPECT_NE(stored[0].config.variant, stored[1].config.variant);
    EXPECT_TRUE(stored[0].config.variant == "spmm.cpu_edges" || stored[1].config.variant == "spmm.cpu_edges");
    EXPECT_TRUE(store.choices().empty());
}

TEST_F(ProfileTest, TakesAMeasurementThatIsThere) {
    store::Store store = open();
    const Measurement first = profile(store, config_of("spmm.cpu_edges"));

    const Measurement again = profile(store, config_of("spmm.cpu_edges"));

    EXPECT_EQ(again.median_us, first.median_us);
    EXPECT_EQ(rows(store).size(), 2u);
}

TEST_F(ProfileTest, AWrongConfigIsAnErrorInWords) {
    for (const auto& faulty : conformance::faulty_variants(Backend::cpu)) {
        if (faulty.caught_by != "oracle" || faulty.variant.op != Op::spmm) continue;
        registry_.add(faulty.variant);
        store::Store store = open();
        const std::string words =
            error_of(ErrorKind::verification, [&] { profile(store, config_of(faulty.variant.id)); });
        EXPECT_TRUE(store::contains(words, faulty.variant.id));
        return;
    }
    FAIL() << "no wrong variant to try";
}

TEST_F(ProfileTest, AConfigThatCannotRunIsRefusedBeforeAnythingIsStored) {
    store::Store store = open();
    error_of(ErrorKind::unsupported, [&] { profile(store, Config{"sddmm.cpu_rows", {}}); });
    EXPECT_TRUE(rows(store).empty());
}

}  // namespace
}  // namespace gnntune::tuner
