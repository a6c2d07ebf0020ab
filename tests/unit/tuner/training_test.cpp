// What a model learns from: problems of a store, and of them those on which nothing of this build is unknown.
#include "tuner/training.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernels/register_all.hpp"
#include "profiles/fields/features_json.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::tuner {
namespace {

class TrainingTest : public store::StoreTest {
protected:
    void SetUp() override {
        StoreTest::SetUp();
        register_all(registry_);
        const CsrGraph csr = test::csr_of(40, 40, test::random_edges(40, 40, 300, 1, 3));
        features_ = features_of(csr.view());
        record_ = graph();
        record_.n_rows = record_.n_cols = 40;
        record_.m = features_.counts.m;
        record_.features_json = store::features_text(features_);
        filter_.backend = Backend::cpu;
        filter_.clock = Clock::host;
    }

    /// Each exact config of spmm that this build has for the problem, with a time.
    std::vector<Measurement> every_config(const Problem& problem) const {
        const Device device = cpu_device();
        const Query query{problem, 40, 40, features_.counts.m, &features_, &device};
        std::vector<Measurement> rows;
        for (const Variant& v : registry_.variants()) {
            if (v.approximate || !registry_.applicable(v, query)) continue;
            for (const Params& params : v.space(query)) {
                Measurement m = measurement(Config{v.id, params}.text(), 100.0 + static_cast<double>(rows.size()));
                m.variant_version = v.version;
                m.clock = Clock::host;
                if (v.parts) {
                    const Config part = registry_.default_part(query);
                    m.parts = {{part, registry_.find(part.variant)->version}};
                }
                rows.push_back(std::move(m));
            }
        }
        return rows;
    }

    /// Stores the rows of a problem of width k, changed, and those of another width as they are. What is kept of the two
    /// where complete ones are wanted.
    template <typename Change>
    std::vector<TrainingProblem> kept(const std::string& name, Change change) {
        store::Store store = store::Store::open(file(name), store::Mode::read_write_create);
        const std::int64_t run = store.begin_run(run_info());
        for (const std::int32_t k : {64, 32}) {
            auto rows = every_config(problem(k));
            if (k == 64) change(rows);
            const store::Key key{store.graph_id(record_), store.environment_id(cpu_device().environment),
                                 store.problem_id(problem(k))};
            for (const Measurement& m : rows) store.add_measurement(run, key, m);
        }
        store.end_run(run);
        filter_.complete = false;
        EXPECT_EQ(training_problems(store, registry_, filter_, &left_out_).size(), 2U);
        EXPECT_EQ(left_out_.incomplete, 0) << "nobody asked";
        filter_.complete = true;
        return training_problems(store, registry_, filter_, &left_out_);
    }
    /// The row of a config that is neither the fastest nor the last.
    static Measurement& one_of(std::vector<Measurement>& rows) {
        return *std::find_if(rows.begin(), rows.end(),
                             [](const Measurement& m) { return m.config.variant == "spmm.cpu_rows"; });
    }

    Registry registry_;
    Features features_;
    GraphRecord record_;
    TrainingFilter filter_;
    LeftOut left_out_;
};

TEST_F(TrainingTest, AProblemWithEveryConfigIsComplete) {
    EXPECT_EQ(kept("all.db", [](auto&) {}).size(), 2U);
    EXPECT_EQ(left_out_.incomplete, 0);
    EXPECT_TRUE(left_out_.by_variant.empty());
}

TEST_F(TrainingTest, AConfigThatNobodyTriedLeavesItOut) {
    const auto problems =
        kept("lacks.db", [](auto& rows) { rows.erase(rows.begin() + (&one_of(rows) - rows.data())); });
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems.front().problem.k, 32);
    EXPECT_EQ(left_out_.incomplete, 1);
    EXPECT_EQ(left_out_.by_variant, (std::map<std::string, int>{{"spmm.cpu_rows", 1}}));
}

// A config that can run and that no search tries is nothing that a model could be asked for.
TEST_F(TrainingTest, WhatNoSearchTriesIsNotJudged) {
    kept("searched.db", [](auto&) {});
    Registry narrower;
    for (Variant v : registry_.variants()) {
        if (std::string_view(v.id) == "spmm.cpu_edges") v.space = [](const Query&) { return std::vector<Params>(); };
        narrower.add(std::move(v));
    }
    const store::Store store = store::Store::open(file("searched.db"), store::Mode::read_only);
    int left = 0;
    for (const TrainingProblem& p : training_problems(store, narrower, filter_)) {
        for (const TimedConfig& c : p.configs) {
            EXPECT_EQ(c.candidate, c.config.variant != "spmm.cpu_edges") << c.config.text();
            left += c.candidate ? 0 : 1;
        }
    }
    EXPECT_GT(left, 0) << "it teaches all the same";
}

// Its time is that of the part which ran: what it teaches is said of that one, and today's config has no time.
TEST_F(TrainingTest, ACompositionIsWhatItsPartWas) {
    Variant whole = *registry_.find("spmm.cpu_rows");
    whole.id = "spmm.whole";
    whole.parts = [](const Query& q) { return std::vector<Part>{{"spmm", q.problem}}; };
    registry_.add(whole);
    const auto is_whole = [](const auto& row) { return row.config.variant == "spmm.whole"; };
    Config ran;
    const auto complete = kept("parts.db", [&](auto& rows) {
        Measurement& row = *std::find_if(rows.begin(), rows.end(), is_whole);
        ran = row.config;
        const Config today = row.parts.front().config;
        row.parts.front().config = Config::parse("spmm.cpu_edges{parts=8}");
        ASSERT_NE(row.parts.front().config, today);
        ran.params.set("spmm", row.parts.front().config.text());
    });
    ASSERT_EQ(complete.size(), 1U);
    EXPECT_EQ(complete.front().problem.k, 32);
    EXPECT_EQ(left_out_.by_variant, (std::map<std::string, int>{{"spmm.whole", 1}}));

    filter_.complete = false;
    const store::Store store = store::Store::open(file("parts.db"), store::Mode::read_only);
    int others = 0;
    for (const TrainingProblem& p : training_problems(store, registry_, filter_)) {
        for (const TimedConfig& c : p.configs) {
            const bool other = c.config == ran;
            EXPECT_EQ(c.candidate, !other) << c.config.text();
            EXPECT_TRUE(!other || p.problem.k == 64);
            others += other ? 1 : 0;
        }
    }
    EXPECT_EQ(others, 1);
}

TEST_F(TrainingTest, AnotherVersionOfAVariantIsNotThisOne) {
    EXPECT_EQ(kept("older.db", [](auto& rows) { one_of(rows).variant_version += 1; }).size(), 1U);
    EXPECT_EQ(left_out_.by_variant.count("spmm.cpu_rows"), 1U);
}

TEST_F(TrainingTest, WhatWasTriedInVainIsKnownAndWhatWasDisturbedIsNot) {
    const auto with = [this](const std::string& name, MeasurementStatus status, const std::string& reason) {
        return kept(name,
                    [&](auto& rows) {
                        one_of(rows).status = status;
                        one_of(rows).reason = reason;
                    })
            .size();
    };
    EXPECT_EQ(with("abandoned.db", MeasurementStatus::abandoned, "3 times the best"), 2U);
    EXPECT_EQ(with("refused.db", MeasurementStatus::refused, "planted"), 2U);
    EXPECT_EQ(with("wrong.db", MeasurementStatus::wrong, "planted"), 2U);
    EXPECT_EQ(with("failed.db", MeasurementStatus::failed, "out of memory"), 2U);
    EXPECT_EQ(with("disturbed.db", MeasurementStatus::failed, std::string(kDisturbed) + "by others"), 1U);
}

}  // namespace
}  // namespace gnntune::tuner
