// What runs of spmm where nothing is known: which variant on which graph, and that it is always a legal config. Needs
// CUDA's headers and no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/common/spmm_suits.hpp"
#include "kernels/register_all.hpp"

namespace gnntune {
namespace {

/// Of so many rows as long as the first number of each pair says; columns are alike.
Features features_of_rows(std::vector<std::pair<std::int32_t, std::int64_t>> degrees) {
    std::sort(degrees.begin(), degrees.end());
    FeatureCounts c;
    for (const auto& [degree, rows] : degrees) {
        c.n_rows += rows;
        c.m += degree * rows;
    }
    c.n_cols = c.n_rows;
    c.row_degrees = c.col_degrees = std::move(degrees);
    c.distinct_cols_8 = c.distinct_cols_16 = c.m;
    return finalise(std::move(c));
}

class SpmmDefault : public testing::Test {
protected:
    SpmmDefault() {
        register_all(registry_);
        device_.backend = Backend::cuda;
        device_.multiprocessors = 132;
        device_.compute_capability = 90;
        device_.l2_bytes = 60 << 20;
        set_usual_limits(device_, 90);
    }
    Query query(const Features& f) const {
        return {problem_, f.counts.n_rows, f.counts.n_cols, f.counts.m, &f, &device_};
    }
    std::string chosen(const Query& q, const Constraints& constraints = {}) const {
        return registry_.default_config(q, constraints).variant;
    }

    Registry registry_;
    Device device_;
    Problem problem_{Op::spmm, 128, 1, DType::f32, Reduce::sum, true, Direction::forward, false};
};

// GPUs of other generations hold fewer threads, and every one has multiprocessors of its own.
TEST_F(SpmmDefault, AsksTheDeviceHowManyThreadsItHolds) {
    const Features f = features_of_rows({{30, 50'000}});
    const auto places = [&](std::int32_t capability, std::int32_t multiprocessors) {
        set_usual_limits(device_, capability);
        device_.multiprocessors = multiprocessors;
        return kernels::places_of(query(f));
    };
    EXPECT_EQ(places(75, 40), 40 * 1024);
    EXPECT_EQ(places(80, 108), 108 * 2048);
    EXPECT_EQ(places(86, 84), 84 * 1536);
    EXPECT_EQ(places(89, 142), 142 * 1536);
    EXPECT_EQ(places(90, 132), 132 * 2048);
    EXPECT_EQ(places(100, 148), 148 * 2048);
    EXPECT_EQ(places(120, 188), 188 * 1536);
    // The code that a build has for a device may be older, and says nothing of it.
    set_usual_limits(device_, 89);
    device_.compute_capability = 80;
    device_.multiprocessors = 128;
    EXPECT_EQ(kernels::places_of(query(f)), 128 * 1536);
    Query unknown = query(f);
    unknown.device = nullptr;
    EXPECT_EQ(kernels::places_of(unknown), 132 * 2048);
}

TEST_F(SpmmDefault, FollowsTheDegrees) {
    const Features even = features_of_rows({{30, 50'000}});
    const Features uneven = features_of_rows({{5, 50'000}, {300, 5'000}});
    const Features skewed = features_of_rows({{0, 300'000}, {4, 100'000}, {800, 500}});
    EXPECT_EQ(chosen(query(even)), "spmm.rows");
    EXPECT_EQ(chosen(query(uneven)), "spmm.binned");
    EXPECT_EQ(chosen(query(skewed)), "spmm.edges");

    Constraints repeats;
    repeats.deterministic = true;
    EXPECT_EQ(chosen(query(skewed), repeats), "spmm.binned");
    problem_.k = 256;
    EXPECT_EQ(chosen(query(skewed)), "spmm.edges");
    problem_.dtype = DType::f16;
    EXPECT_EQ(chosen(query(skewed)), "spmm.binned") << "edges round in a launch of its own";
    problem_.dtype = DType::f32;
    problem_.k = 128;
    // Formats of its own are for many calls, and nothing is known without features.
    Constraints once;
    once.expected_calls = 1;
    EXPECT_EQ(chosen(query(even), once), "spmm.binned");
    Query blind = query(even);
    blind.features = nullptr;
    EXPECT_EQ(chosen(blind), "spmm.binned");
    // Loads of less than 16 bytes, of which no measurement says anything.
    problem_.k = 34;
    EXPECT_NE(chosen(query(even)), "spmm.rows");
}

TEST_F(SpmmDefault, FollowsTheDirection) {
    Features f = features_of_rows({{30, 50'000}});
    f.counts.col_degrees = {{5, 25'000}, {55, 25'000}};
    EXPECT_EQ(chosen(query(f)), "spmm.rows");
    problem_.direction = Direction::reversed;
    EXPECT_EQ(chosen(query(f)), "spmm.binned") << "columns are uneven";
}

TEST_F(SpmmDefault, FollowsWhatRowsShare) {
    Features shared = features_of_rows({{64, 50'000}});
    shared.counts.distinct_cols_16 = shared.counts.m / 8;
    EXPECT_EQ(chosen(query(shared)), "spmm.mma");
    Constraints unaligned;
    unaligned.operand_alignment = 4;
    EXPECT_NE(chosen(query(shared), unaligned), "spmm.mma") << "it needs 16 bytes";
    // Results that do not fill the device: windows have to, whatever the width.
    for (const std::int32_t k : {32, 64, 128}) {
        problem_.k = k;
        const auto with_rows = [&](std::int64_t rows) {
            Features f = features_of_rows({{64, rows}});
            f.counts.distinct_cols_16 = f.counts.m / 8;
            return chosen(query(f));
        };
        EXPECT_EQ(with_rows(132 * 101), "spmm.mma") << k;
        EXPECT_NE(with_rows(132 * 99), "spmm.mma") << k;
    }

    Features dense = features_of_rows({{1200, 4'000}});
    dense.counts.blocks_32x32.fill({4'000, dense.counts.m});
    EXPECT_EQ(chosen(query(dense)), "spmm.dense_blocks");
    dense.counts.blocks_32x32.back().edges = 0;
    EXPECT_EQ(chosen(query(dense)), "spmm.rows");
}

TEST_F(SpmmDefault, CutsNoWindowOfMeanWidthWhereThereAreManyOfThem) {
    const auto chunk = [&](std::int64_t rows, std::int64_t blocks_of_a_window, const char* id) {
        Features f = features_of_rows({{64, rows}});
        f.counts.sgt_blocks_16x8 = blocks_of_a_window * (rows / 16);
        return *registry_.find(id)->default_params(query(f)).find("chunk");
    };
    for (const char* id : {"spmm.mma", "spmm.mma_tf32"}) {
        EXPECT_EQ(chunk(64'000, 20, id), "32");
        EXPECT_EQ(chunk(64'000, 35, id), "40");
        EXPECT_EQ(chunk(64'000, 50, id), "64");
        EXPECT_EQ(chunk(64'000, 100, id), "128");
        EXPECT_EQ(chunk(64'000, 500, id), "128");
        EXPECT_EQ(chunk(1'600, 35, id), "40") << "a launch less";
        EXPECT_EQ(chunk(1'600, 50, id), "32") << "few windows have to be shared out";
    }
    Features f = features_of_rows({{64, 64'000}});
    f.counts.sgt_blocks_16x8 = 100 * 4'000;
    problem_.direction = Direction::reversed;
    EXPECT_EQ(*registry_.find("spmm.mma")->default_params(query(f)).find("chunk"), "32")
        << "nobody counted columns' windows";
}

TEST_F(SpmmDefault, ChunksThatCutOffNextToNothingAreNotSearched) {
    const auto chunks = [&](std::int64_t blocks_of_a_window, const char* id) {
        Features f = features_of_rows({{64, 64'000}});
        f.counts.sgt_blocks_16x8 = blocks_of_a_window * 4'000;
        std::set<std::string> out;
        for (const Params& p : registry_.find(id)->space(query(f))) out.insert(*p.find("chunk"));
        return out;
    };
    using Chunks = std::set<std::string>;
    for (const char* id : {"spmm.mma", "spmm.mma_tf32"}) {
        EXPECT_EQ(chunks(32, id), (Chunks{"128", "32", "40", "64"}));
        EXPECT_EQ(chunks(33, id), (Chunks{"128", "40", "64"}));
        EXPECT_EQ(chunks(40, id), (Chunks{"128", "40", "64"}));
        EXPECT_EQ(chunks(41, id), (Chunks{"128", "32", "64"}));
        EXPECT_EQ(chunks(65, id), (Chunks{"128", "32", "40"}));
        EXPECT_EQ(chunks(81, id), (Chunks{"128", "32", "40", "64"}));
        EXPECT_EQ(chunks(129, id), (Chunks{"128", "32", "40", "64"})) << "no larger one leaves it whole";
    }
    problem_.direction = Direction::reversed;
    EXPECT_EQ(chunks(33, "spmm.mma").size(), 4U) << "of columns nobody counted windows";
}

TEST_F(SpmmDefault, CopiesRowsToWholeVectorsWhereEdgesAreSparedEnough) {
    const Features many = features_of_rows({{20, 50'000}});
    const Features some = features_of_rows({{20, 10'000}});
    const Features few = features_of_rows({{20, 1'000}});
    problem_.k = 33;
    EXPECT_EQ(chosen(query(many)), "spmm.padded");
    EXPECT_NE(chosen(query(some)), "spmm.padded");
    problem_.dtype = DType::bf16;
    EXPECT_EQ(chosen(query(some)), "spmm.padded");
    EXPECT_NE(chosen(query(few)), "spmm.padded");
    problem_.heads = 8;
    EXPECT_EQ(chosen(query(few)), "spmm.padded");
    problem_.heads = 1;
    // Nobody has to count features for it.
    Query blind = query(some);
    blind.features = nullptr;
    EXPECT_EQ(chosen(blind), "spmm.padded");
    Constraints constraints;
    constraints.expected_calls = 1;
    EXPECT_NE(chosen(query(some), constraints), "spmm.padded");
    constraints = {};
    constraints.operand_alignment = 4;
    EXPECT_NE(chosen(query(some), constraints), "spmm.padded");
    problem_.k = 40;
    EXPECT_NE(chosen(query(some)), "spmm.padded");

    for (const Op op :
         {Op::spmm_grad, Op::gat, Op::gat_grad, Op::agnn, Op::agnn_grad, Op::attention, Op::attention_grad}) {
        problem_ = normalised({op, 33, 1, DType::f16});
        EXPECT_EQ(chosen(query(some)), std::string(to_text(op)) + ".padded");
        EXPECT_NE(chosen(query(few)), std::string(to_text(op)) + ".padded");
        EXPECT_FALSE(registry_.default_sees_features(op, Backend::cuda));
    }
    EXPECT_TRUE(registry_.default_sees_features(Op::spmm, Backend::cuda));
}

TEST_F(SpmmDefault, CopiesNoRowsThatFewEdgesRead) {
    const Features dense = features_of_rows({{20, 15'000}});
    const Features sparse = features_of_rows({{1, 300'000}});
    for (const auto& [op, k] : {std::pair{Op::spmm, 33}, std::pair{Op::attention, 130}}) {
        problem_ = normalised({op, k, 1, DType::f32});
        EXPECT_EQ(chosen(query(dense)), std::string(to_text(op)) + ".padded");
        EXPECT_NE(chosen(query(sparse)), std::string(to_text(op)) + ".padded");
    }
}

TEST_F(SpmmDefault, CopiesRowsOfMaximaByPricesOfTheirOwn) {
    const Features some = features_of_rows({{20, 8'000}});
    problem_ = normalised({Op::spmm, 33, 1, DType::f32});
    EXPECT_EQ(chosen(query(some)), "spmm.binned");
    problem_.reduce = Reduce::max;
    EXPECT_EQ(chosen(query(some)), "spmm.padded");
    problem_.dtype = DType::f16;
    EXPECT_EQ(chosen(query(some)), "spmm.padded");
    problem_.dtype = DType::f32;
    EXPECT_EQ(chosen(query(features_of_rows({{5, 5'000}}))), "spmm.max_binned");
}

// Kernels by degree hold a head in the registers of a warp, of narrow loads fewer features. What else there is takes up to nine
// times as long as copies.
TEST_F(SpmmDefault, CopiesRowsOfGradientsThatNoKernelByDegreeTakes) {
    const Features few = features_of_rows({{10, 300}});
    const Features sparse = features_of_rows({{1, 300'000}});
    const Features empty = features_of_rows({{0, 1'000'000}});
    for (const Op op : {Op::gat_grad, Op::agnn_grad, Op::attention_grad}) {
        for (const auto& [k, dtype] : {std::pair{65, DType::f32}, std::pair{130, DType::f32},
                                       std::pair{130, DType::f16}, std::pair{260, DType::bf16}}) {
            problem_ = normalised({op, k, 1, dtype});
            EXPECT_EQ(chosen(query(few)), std::string(to_text(op)) + ".padded") << k;
            EXPECT_NE(chosen(query(empty)), std::string(to_text(op)) + ".padded") << k;
        }
        problem_ = normalised({op, 65, 1, DType::f32});
        EXPECT_EQ(chosen(query(sparse)), std::string(to_text(op)) + ".padded");
        problem_ = normalised({op, 63, 1, DType::f32});
        EXPECT_EQ(chosen(query(few)), std::string(to_text(op)) + ".binned");
    }
    problem_ = normalised({Op::spmm_grad, 130, 1, DType::f32});
    EXPECT_EQ(chosen(query(few)), "spmm_grad.unfused");
}

// As measured on the corpus (docs/history.md, "The default of spmm").
TEST_F(SpmmDefault, ParamsFollowFromTheLoad) {
    const auto config = [&](const char* id, const Features& f) {
        return Config{id, registry_.find(id)->default_params(query(f))}.text();
    };
    const Features few = features_of_rows({{30, 3'000}});
    const Features many = features_of_rows({{30, 100'000}});
    const Features uneven = features_of_rows({{1, 3'000}, {100, 900}});
    EXPECT_EQ(config("spmm.rows", few), "spmm.rows{lanes=16,split=2,vec=4,items=2,unroll=4,warps_per_block=4}");
    EXPECT_EQ(config("spmm.rows", many), "spmm.rows{lanes=8,split=1,vec=4,items=2,unroll=4,warps_per_block=4}");
    EXPECT_EQ(config("spmm.binned", many), "spmm.binned{lanes=8,vec=4,items=2,share=32,warps_per_block=4}");
    EXPECT_EQ(config("spmm.binned", uneven), "spmm.binned{lanes=32,vec=4,items=1,share=32,warps_per_block=16}");
    problem_.k = 16;
    EXPECT_EQ(config("spmm.binned", uneven), "spmm.binned{lanes=4,vec=4,items=1,share=8,warps_per_block=16}");
    EXPECT_EQ(config("spmm.rows", features_of_rows({{9, 1'000}})),
              "spmm.rows{lanes=4,split=8,vec=4,items=1,unroll=4,warps_per_block=4}");
}

TEST_F(SpmmDefault, IsLegalForEveryWidth) {
    std::vector<Features> graphs;
    graphs.push_back(features_of_rows({{0, 1}}));
    for (const std::int64_t rows : {1, 900, 20'000, 1'000'000}) {
        for (const std::int32_t degree : {1, 20, 1'000}) {
            graphs.push_back(features_of_rows({{degree, rows}}));
            graphs.push_back(features_of_rows({{0, rows}, {degree, rows}, {50 * degree, rows / 50 + 1}}));
        }
    }
    int asked = 0;
    for (const Features& f : graphs) {
        for (const DType dtype : every_dtype()) {
            for (const std::int32_t k : {1, 2, 3, 4, 7, 8, 12, 16, 33, 48, 64, 100, 200, 256, 602, 1024, 5000}) {
                problem_.dtype = dtype;
                problem_.k = k;
                for (const char* id : {"spmm.rows", "spmm.binned", "spmm.edges", "spmm.mma", "spmm.padded"}) {
                    const Variant& v = *registry_.find(id);
                    const Query q = query(f);
                    if (!registry_.applicable(v, q)) continue;
                    const Params params = v.default_params(q);
                    const Verdict valid = v.valid(q, params);
                    EXPECT_TRUE(valid) << Config{id, params}.text() << ", " << to_text(problem_) << ": "
                                       << valid.reason;
                    ++asked;
                }
            }
        }
    }
    EXPECT_GT(asked, 1000);
}

}  // namespace
}  // namespace gnntune
