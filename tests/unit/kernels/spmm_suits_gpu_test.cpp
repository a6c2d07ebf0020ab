// Rows of middling length at the limits of their rule: what else runs where nothing is known is in spmm_default_gpu_test.cpp. Needs
// CUDA's headers and no GPU.
#include "kernels/common/spmm_suits.hpp"

#include <gtest/gtest.h>

#include "kernels/register_all.hpp"
#include "tests/unit/common/hopper.hpp"

namespace gnntune::kernels {
namespace {

/// A problem on a graph that has these facts alone. No window of 16 rows shares a column.
struct Load {
    std::int32_t n = 4000;
    std::int64_t degree = 20;
    double cv = 0.6;
    std::int32_t k = 32;
    DType dtype = DType::f32;
};

class SpmmSuits : public testing::Test {
protected:
    Query query(const Load& load) {
        features_ = {};
        features_.degree_cv = load.cv;
        features_.counts.m = load.n * load.degree;
        features_.counts.distinct_cols_16 = features_.counts.m;
        Query q{{}, load.n, load.n, features_.counts.m, &features_, &device_};
        q.problem.k = load.k;
        q.problem.dtype = load.dtype;
        return q;
    }
    int groups(const Load& load) { return groups_of_middling_rows(spmm_load(query(load))); }

    Device device_ = test::hopper();  // 132 x 2048 places
    Features features_;
};

TEST_F(SpmmSuits, MiddlingRowsAreSharedByAsManyGroupsAsHalfOfTheDeviceHasRoomFor) {
    EXPECT_EQ(groups({.n = 1554}), 0) << "so few that each may have a warp";
    EXPECT_EQ(groups({.n = 1555}), 4);
    EXPECT_EQ(groups({.n = 4224}), 4);
    EXPECT_EQ(groups({.n = 4225}), 2);
    EXPECT_EQ(groups({.n = 8448}), 2);
    EXPECT_EQ(groups({.n = 8449}), 0);
    EXPECT_EQ(groups({.n = 8448, .k = 16}), 4) << "half as many loads a row";
    EXPECT_EQ(groups({.n = 4225, .k = 64, .dtype = DType::f16}), 2) << "as many";
}

TEST_F(SpmmSuits, MiddlingRowsAreNarrowAlikeAndOfTwelveToFortyFiveEdges) {
    EXPECT_EQ(groups({.degree = 11}), 0);
    EXPECT_EQ(groups({.degree = 12}), 4);
    EXPECT_EQ(groups({.degree = 45}), 4);
    EXPECT_EQ(groups({.degree = 46}), 0);
    EXPECT_EQ(groups({.cv = 0.61}), 0);
    EXPECT_EQ(groups({.k = 33}), 0) << "eight times as many loads";
    EXPECT_EQ(groups({.k = 36}), 0) << "a row of 16 loads";
}

TEST_F(SpmmSuits, MiddlingRowsRunWithTheirGroups) {
    Registry registry;
    register_all(registry);
    const Variant& rows = *registry.find("spmm.rows");
    const auto split = [&](const Load& load) { return *rows.default_params(query(load)).find("split"); };
    for (const std::int32_t n : {4224, 8448}) {
        EXPECT_EQ(suits_spmm(query({.n = n})), SpmmVariant::rows) << n;
        EXPECT_EQ(registry.default_config(query({.n = n}), {}).variant, "spmm.rows") << n;
    }
    EXPECT_EQ(split({.n = 4224}), "4");
    EXPECT_EQ(split({.n = 8448}), "2");
    EXPECT_EQ(suits_spmm(query({.n = 8449})), SpmmVariant::binned);
    EXPECT_EQ(suits_spmm(query({.degree = 46})), SpmmVariant::binned);
    EXPECT_EQ(suits_spmm(query({.cv = 0.61})), SpmmVariant::binned);
}

}  // namespace
}  // namespace gnntune::kernels
