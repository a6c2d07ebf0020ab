// Cost models in the store.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/model/model.hpp"
#include "core/model/model_features.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune::store {
namespace {

TEST_F(StoreTest, KeepsTheNewestModelOfEachOpByteForByte) {
    Store store = open();
    const std::string bytes("GN\0\xff model\0", 12);
    ModelRow row{Op::spmm,           Backend::cuda, Policy::hot, Clock::events, 1, "old",
                 R"({"graphs":[]})", "{}",          "0.1.0",     "abc",         ""};
    store.put_model(row);
    row.bytes = bytes;
    store.put_model(row);
    row.op = Op::gat;
    store.put_model(row);
    const auto models = store.models();
    ASSERT_EQ(models.size(), 2u);
    EXPECT_EQ(models[0].op, Op::gat);
    EXPECT_EQ(models[1].bytes, bytes);
    EXPECT_EQ(models[1].training, row.training);
    EXPECT_FALSE(models[1].fitted_at.empty());
    row.training = "no JSON";
    EXPECT_THROW(store.put_model(row), Error);
}

ModelRow sound_model() {
    model::Model m;
    m.op = Op::spmm;
    return {Op::spmm,
            Backend::cuda,
            Policy::hot,
            Clock::events,
            model::kFeatureVersion,
            model::to_bytes(m),
            "{}",
            "{}",
            "0.1.0",
            "",
            ""};
}

TEST_F(StoreTest, CheckReadsModels) {
    Store store = open();
    ModelRow row = sound_model();
    store.put_model(row);
    EXPECT_EQ(store.check(), std::vector<std::string>{});
    row.op = Op::gat;
    store.put_model(row);
    EXPECT_EQ(store.check().size(), 1u);
    row.op = Op::spmm;
    row.bytes[9] ^= 1;
    store.put_model(row);
    EXPECT_EQ(store.check().size(), 2u);
}

TEST_F(StoreTest, MergingLeavesDamagedModelsOutAndTakesTheOthers) {
    {
        Store from = Store::open(file("from.db"), Mode::read_write_create);
        ModelRow row = sound_model();
        from.put_model(row);
        row.policy = Policy::cold;
        row.bytes[9] ^= 1;
        from.put_model(row);
        // Of another version of this program: it judges what is whole.
        row.feature_version = model::kFeatureVersion + 1;
        row.clock = Clock::span;
        from.put_model(row);
        row.policy = Policy::graph;
        row.bytes = sound_model().bytes;
        from.put_model(row);
    }
    Store store = open();
    const MergeReport report = store.merge(file("from.db"));
    EXPECT_EQ(report.models, 2);
    ASSERT_EQ(report.conflicts.size(), 2u);
    for (const std::string& conflict : report.conflicts) {
        EXPECT_TRUE(contains(conflict, "the model of spmm on cuda there is damaged and was left out: "));
        EXPECT_TRUE(contains(conflict, "its checksum does not fit"));
    }
    std::vector<Policy> policies;
    for (const ModelRow& row : store.models()) policies.push_back(row.policy);
    std::sort(policies.begin(), policies.end());
    EXPECT_EQ(policies, (std::vector{Policy::hot, Policy::graph}));
    // One of another version is no fault, but not used.
    EXPECT_EQ(store.check(), std::vector<std::string>{});
    ASSERT_EQ(store.doubts().size(), 1U);
    EXPECT_TRUE(contains(store.doubts().front(),
                         "the cost model of spmm on cuda is not used: it was fitted on features of version " +
                             std::to_string(model::kFeatureVersion + 1) + ", this program knows " +
                             std::to_string(model::kFeatureVersion)));
    EXPECT_EQ(Store::open(file("from.db"), Mode::read_only).check().size(), 2U);
}

}  // namespace
}  // namespace gnntune::store
