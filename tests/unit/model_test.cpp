// The cost model as bytes and trees: evaluation against a plain walk, and bytes that are cut, flipped or of other
// versions.
#include "core/model/model.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "core/common/error.hpp"

namespace gnntune::model {
namespace {

Forest random_forest(std::int32_t features, int trees, int depth, std::mt19937& random) {
    Forest f;
    f.start = 0.25F;
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto grow = [&](auto& self, int left) -> void {
        const std::size_t here = f.nodes.size();
        f.nodes.push_back({uniform(random), -1, 0});
        if (left == 0 || random() % 5 == 0) return;
        f.nodes[here].feature = static_cast<std::int32_t>(random() % static_cast<unsigned>(features));
        self(self, left - 1);
        f.nodes[here].right = static_cast<std::int32_t>(f.nodes.size());
        self(self, left - 1);
    };
    for (int t = 0; t < trees; ++t) {
        f.roots.push_back(static_cast<std::int32_t>(f.nodes.size()));
        grow(grow, depth);
    }
    return f;
}

double walk(const Forest& f, const std::vector<float>& point) {
    double sum = f.start;
    for (std::int32_t node : f.roots) {
        while (f.nodes[static_cast<std::size_t>(node)].feature >= 0) {
            const Node& n = f.nodes[static_cast<std::size_t>(node)];
            node = point[static_cast<std::size_t>(n.feature)] <= n.threshold ? node + 1 : n.right;
        }
        sum += f.nodes[static_cast<std::size_t>(node)].threshold;
    }
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
    m.variants = {v, VariantModel{"sddmm.cusparse", 1, {}, {}, 0}};
    return m;
}

TEST(Trees, PointsThatWalkTogetherArriveWhereEachArrivesAlone) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const std::int32_t shared_width = 4;
    const std::int32_t own_width = 3;
    const std::int32_t count = kMostPoints;
    const Forest forest = random_forest(shared_width + own_width, 20, 6, random);
    ASSERT_TRUE(well_formed(forest, shared_width + own_width));
    std::vector<float> shared(4);
    for (float& v : shared) v = uniform(random);
    std::vector<float> own(static_cast<std::size_t>(count * own_width));
    for (float& v : own) v = uniform(random);
    // Few values, as params have; thresholds that are hit exactly; and what no threshold holds.
    for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) own[p] = static_cast<float>(p % 3) - 1.0F;
    for (const Node& n : forest.nodes) {
        if (n.feature == shared_width + 1) own[static_cast<std::size_t>(count) + 5] = n.threshold;
    }
    own[7] = std::numeric_limits<float>::quiet_NaN();
    own[8] = std::numeric_limits<float>::infinity();
    for (const std::int32_t part : {0, 1, 37, count}) {
        std::vector<float> mine;
        for (std::int32_t f = 0; f < own_width; ++f) {
            mine.insert(mine.end(), own.begin() + f * count, own.begin() + f * count + part);
        }
        std::vector<double> sums(static_cast<std::size_t>(part), 0.0);

        add(forest, Points(shared, mine, part), sums);

        for (std::int32_t p = 0; p < part; ++p) {
            std::vector<float> point = shared;
            for (std::int32_t f = 0; f < own_width; ++f) point.push_back(own[static_cast<std::size_t>(f * count + p)]);
            EXPECT_EQ(sums[static_cast<std::size_t>(p)], walk(forest, point)) << p << " of " << part;
        }
    }
}

TEST(Trees, IndicesThatLeadAstrayAreSeen) {
    Forest f;
    f.roots = {0};
    f.nodes = {{0.5F, 1, 2}, {1, -1, 0}, {2, -1, 0}};
    EXPECT_TRUE(well_formed(f, 2));
    EXPECT_FALSE(well_formed(f, 1)) << "a feature that is not there";
    f.nodes[0].right = 3;
    EXPECT_FALSE(well_formed(f, 2)) << "a child behind the end";
    f.nodes[0].right = 0;
    EXPECT_FALSE(well_formed(f, 2)) << "a loop";
    f.nodes[0].right = 2;
    f.roots = {3};
    EXPECT_FALSE(well_formed(f, 2)) << "a root behind the end";
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
    Model m = some_model();
    m.feature_version = kFeatureVersion + 1;
    try {
        (void)from_bytes(to_bytes(m));
        FAIL() << "a model of other features was read";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("fit it again"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace gnntune::model
