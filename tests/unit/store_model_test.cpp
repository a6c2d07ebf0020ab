// Cost models in the store.
#include <gtest/gtest.h>

#include "core/model/model.hpp"
#include "tests/unit/store_fixture.hpp"

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

TEST_F(StoreTest, CheckReadsModels) {
    Store store = open();
    model::Model m;
    m.op = Op::spmm;
    ModelRow row{Op::spmm, Backend::cuda, Policy::hot, Clock::events, 1, model::to_bytes(m), "{}", "{}", "0.1.0", "",
                 ""};
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

}  // namespace
}  // namespace gnntune::store
