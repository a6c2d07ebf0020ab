// The cost model as bytes and trees: evaluation against a plain walk, and bytes that are cut, flipped or of other
// versions.
#include "core/model/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "core/common/error.hpp"
#include "core/model/rests.hpp"

namespace gnntune::model {
namespace {

Forest random_forest(std::int32_t features, int trees, int depth, std::mt19937& random) {
    Forest f;
    f.start = 0.25F;
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int t = 0; t < trees; ++t) {
        std::vector<std::int32_t> asked(1 + random() % static_cast<unsigned>(depth));
        for (std::int32_t& a : asked) a = static_cast<std::int32_t>(random() % static_cast<unsigned>(features));
        std::sort(asked.begin(), asked.end());
        f.depths.push_back(static_cast<std::int32_t>(asked.size()));
        for (const std::int32_t a : asked) f.splits.push_back({uniform(random), a});
        for (std::size_t leaf = 0; leaf < std::size_t{1} << asked.size(); ++leaf) f.leaves.push_back(uniform(random));
    }
    return f;
}

// The sum of a forest for one point, tree by tree. Trees that the first `shared` features answer come first, as in add().
double walk(const Forest& f, const std::vector<float>& point, std::int32_t shared) {
    double sum = f.start;
    std::vector<float> said;
    std::size_t split = 0;
    std::size_t leaves = 0;
    for (const std::int32_t depth : f.depths) {
        std::size_t leaf = 0;
        for (std::int32_t level = 0; level < depth; ++level, ++split) {
            const Split& s = f.splits[split];
            leaf = 2 * leaf + (point[static_cast<std::size_t>(s.feature)] <= s.threshold ? 0 : 1);
        }
        const float value = f.leaves[leaves + leaf];
        if (f.splits[split - 1].feature < shared) {
            sum += value;
        } else {
            said.push_back(value);
        }
        leaves += std::size_t{1} << depth;
    }
    for (const float value : said) sum += value;
    return sum;
}

Model some_model() {
    std::mt19937 random(3);
    const auto shared = static_cast<std::int32_t>(problem_feature_names().size());
    Model m;
    m.op = Op::sddmm;
    m.level = {random_forest(shared, 3, 4, random), random_forest(shared, 2, 3, random)};
    m.level_spread = 0.125F;
    VariantModel v;
    v.id = "sddmm.edges";
    v.version = 4;
    v.codes.params = {{"alg", {"default", "other"}}, {"vec", {}}};
    v.slowdown = {random_forest(shared + config_width(v.codes), 5, 5, random)};
    v.spread = 0.5F;
    v.rates = std::vector<float>(kRoughTerms, 0.25F);
    m.variants = {v, VariantModel{"sddmm.cusparse", 1, {}, {}, 0}};
    return m;
}

TEST(Trees, PointsThatAreAskedTogetherGetWhatEachGetsAlone) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const std::int32_t shared_width = 4;
    const std::int32_t own_width = 3;
    const std::int32_t count = 9 * Points::kPack;
    const Forest forest = random_forest(shared_width + own_width, 200, 9, random);
    ASSERT_TRUE(well_formed(forest, shared_width + own_width));
    std::vector<float> shared(4);
    for (float& v : shared) v = uniform(random);
    for (const Split& s : forest.splits) {
        if (s.feature < 2) shared[static_cast<std::size_t>(s.feature)] = s.threshold;
    }
    std::vector<float> own(static_cast<std::size_t>(count * own_width));
    for (float& v : own) v = uniform(random);
    // Few values, as params have; thresholds that are hit exactly; and what no threshold holds.
    for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) own[p] = static_cast<float>(p % 3) - 1.0F;
    for (const Split& s : forest.splits) {
        if (s.feature == shared_width + 1) own[static_cast<std::size_t>(count) + 5] = s.threshold;
    }
    own[7] = std::numeric_limits<float>::quiet_NaN();
    own[8] = std::numeric_limits<float>::infinity();
    own[9] = -std::numeric_limits<float>::infinity();
    shared[2] = std::numeric_limits<float>::quiet_NaN();
    shared[3] = -std::numeric_limits<float>::infinity();
    for (const std::int32_t part : {0, 1, 37, count}) {
        std::vector<float> mine;
        for (std::int32_t f = 0; f < own_width; ++f) {
            mine.insert(mine.end(), own.begin() + f * count, own.begin() + f * count + part);
        }
        std::vector<double> sums(static_cast<std::size_t>(part), 0.0);

        add(forest, Points(shared, mine, part), sums);
        std::vector<double> anywhere(sums.size(), 0.0);
        add(forest, Points(shared, mine, part), anywhere, sum_rests_anywhere);

        EXPECT_EQ(sums, anywhere) << "of " << part << ": this processor's form beside that of all";
        for (std::int32_t p = 0; p < part; ++p) {
            std::vector<float> point = shared;
            for (std::int32_t f = 0; f < own_width; ++f) point.push_back(own[static_cast<std::size_t>(f * count + p)]);
            EXPECT_EQ(sums[static_cast<std::size_t>(p)], walk(forest, point, shared_width)) << p << " of " << part;
            double alone = 0;
            add(forest, Points(shared, std::span(point).subspan(shared_width), 1), {&alone, 1});
            EXPECT_EQ(sums[static_cast<std::size_t>(p)], alone) << p << " of " << part;
        }
    }
}

TEST(Trees, WhatIsNotWholeIsSeen) {
    const Forest whole{0, {1, 2}, {{0.5F, 1}, {0.5F, 0}, {0.25F, 1}}, {1, 2, 3, 4, 5, 6}};
    EXPECT_TRUE(well_formed(whole, 2));
    EXPECT_FALSE(well_formed(whole, 1)) << "a feature that is not there";
    const auto broken = [&](const auto& change) {
        Forest f = whole;
        change(f);
        return well_formed(f, 2);
    };
    EXPECT_FALSE(broken([](Forest& f) { f.splits[2].feature = -1; }));
    EXPECT_FALSE(broken([](Forest& f) { std::swap(f.splits[1], f.splits[2]); })) << "features that fall";
    EXPECT_FALSE(broken([](Forest& f) { f.splits.pop_back(); }));
    EXPECT_FALSE(broken([](Forest& f) { f.splits.push_back({0, 0}); }));
    EXPECT_FALSE(broken([](Forest& f) { f.leaves.pop_back(); }));
    EXPECT_FALSE(broken([](Forest& f) { f.leaves.push_back(0); }));
    EXPECT_FALSE(broken([](Forest& f) { f.depths[0] = 0; }));
    EXPECT_FALSE(broken([](Forest& f) { f.depths[1] = kDeepest + 1; }));
    EXPECT_FALSE(broken([](Forest& f) { f.depths.push_back(1); }));
    EXPECT_FALSE(broken([](Forest& f) { f.splits[0].threshold = std::numeric_limits<float>::infinity(); }));
    EXPECT_FALSE(broken([](Forest& f) { f.leaves[3] = std::numeric_limits<float>::quiet_NaN(); }));
}

TEST(ModelBytes, RoundTrip) {
    const Model m = some_model();
    EXPECT_EQ(from_bytes(to_bytes(m)), m);
    EXPECT_EQ(to_bytes(from_bytes(to_bytes(m))), to_bytes(m));
}

TEST(ModelBytes, EveryCutAndEveryFlippedByteIsRefused) {
    const std::string bytes = to_bytes(some_model());
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        EXPECT_THROW((void)from_bytes(std::string_view(bytes).substr(0, n)), Error) << n;
        std::string flipped = bytes;
        flipped[n] = static_cast<char>(flipped[n] ^ 0x10);
        EXPECT_THROW((void)from_bytes(flipped), Error) << n;
    }
    EXPECT_THROW((void)from_bytes(bytes + "x"), Error);
}

TEST(ModelBytes, OtherFeaturesAreRefusedInWords) {
    for (const std::int32_t other : {kFeatureVersion - 1, kFeatureVersion + 1}) {
        Model m = some_model();
        m.feature_version = other;
        try {
            (void)from_bytes(to_bytes(m));
            ADD_FAILURE() << "a model of features " << other << " was read";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("fit it again"), std::string::npos) << e.what();
        }
    }
}

TEST(ModelBytes, KindsComeBack) {
    Model m = some_model();
    m.kinds = {false, true, false, true, false, true};
    EXPECT_EQ(from_bytes(to_bytes(m)).kinds, m.kinds);
    m.kinds = {true, false, true, false, true, false};
    EXPECT_EQ(from_bytes(to_bytes(m)).kinds, m.kinds);
}

TEST(ModelBytes, RatesThatAreNoneAreRefused) {
    for (const float rate : {-1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        Model m = some_model();
        m.variants.front().rates.back() = rate;
        EXPECT_THROW((void)from_bytes(to_bytes(m)), Error) << rate;
    }
    Model m = some_model();
    m.variants.front().rates.pop_back();
    EXPECT_THROW((void)from_bytes(to_bytes(m)), Error);
}

TEST(ModelFeatures, TellKindsApart) {
    const auto& names = problem_feature_names();
    const auto seen = [&](const Problem& problem) {
        FeatureCounts counts;
        counts.n_rows = counts.n_cols = 100;
        counts.m = 300;
        counts.row_degrees = counts.col_degrees = {{3, 100}};
        const Features features = finalise(counts);
        Device device;
        const auto values = problem_features({problem, 100, 100, 300, &features, &device}, {});
        EXPECT_EQ(values.size(), names.size());
        std::map<std::string, float> out;
        for (std::size_t i = 0; i < names.size(); ++i) out[names[i]] = values[i];
        return out;
    };
    const Problem plain{Op::spmm, 64, 1, DType::f32, Reduce::sum, true, Direction::forward, false};
    const auto with = [&](auto change) {
        Problem p = plain;
        change(p);
        return seen(p);
    };
    const auto as_it_is = seen(plain);
    EXPECT_NE(with([](Problem& p) { p.reduce = Reduce::max; }), as_it_is);
    EXPECT_NE(with([](Problem& p) { p.reduce = Reduce::mean; }), as_it_is);
    EXPECT_NE(with([](Problem& p) { p.weighted = false; }), as_it_is);
    EXPECT_NE(with([](Problem& p) { p.direction = Direction::reversed; }), as_it_is);
    EXPECT_NE(with([](Problem& p) { p.self_loop = true; }), as_it_is);
    EXPECT_NE(with([](Problem& p) { p.heads = 8; }), as_it_is);
    const auto narrow = with([](Problem& p) { p.dtype = DType::f16; });
    EXPECT_EQ(narrow.at("element_bytes"), 1);
    EXPECT_EQ(as_it_is.at("element_bytes"), 2);
    EXPECT_EQ(narrow.at("row_bytes"), 7);
    EXPECT_EQ(with([](Problem& p) { p.dtype = DType::bf16; }), narrow) << "both take two bytes";
    EXPECT_EQ(as_it_is.at("vector_bytes"), 4);
    EXPECT_EQ(with([](Problem& p) { p.k = 33; }).at("vector_bytes"), 2);
    EXPECT_EQ(with([](Problem& p) { p.k = 6; }).at("vector_bytes"), 3);
}

}  // namespace
}  // namespace gnntune::model
