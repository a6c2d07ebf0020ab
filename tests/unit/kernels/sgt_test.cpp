// Sparse graph translation on the CPU against a literal Algorithm 1, for many graphs and shapes of TC blocks.
#include "tests/unit/kernels/sgt_reference.hpp"

#include "core/features/features.hpp"
#include "core/registry/graph.hpp"
#include "kernels/register_all.hpp"

namespace gnntune {
namespace {

test::Translation translate(const CsrFormat& csr, const formats::SgtShape& shape) {
    const auto m = static_cast<std::size_t>(csr.m);
    const auto blocks = static_cast<std::size_t>(formats::sgt_max_blocks(csr.n_rows, csr.m, shape));
    HostVector<unsigned char> scratch(formats::sgt_scratch_bytes_cpu(csr.m));
    auto window_ptr =
        test::sized<std::int32_t>(static_cast<std::size_t>(formats::sgt_windows(csr.n_rows, shape)) + 1, -7);
    auto block_ptr = test::sized<std::int32_t>(blocks + 1, -7);
    auto block_cols = test::sized<std::int32_t>(blocks * static_cast<std::size_t>(shape.block_width), -7);
    auto position = test::sized<unsigned char>(m * shape.position_bytes(), 0xee);
    auto edge_id = test::sized<std::int32_t>(m, -7);
    formats::sgt_count_cpu(csr, shape, window_ptr.data(), scratch.data());
    EXPECT_LE(window_ptr.back(), static_cast<std::int64_t>(blocks));
    formats::sgt_fill_cpu(csr, shape,
                          {window_ptr.data(), block_ptr.data(), block_cols.data(), position.data(), edge_id.data()},
                          scratch.data());
    return test::collect(shape, csr.m, window_ptr, block_ptr, block_cols, position, edge_id);
}

TEST(Sgt, EqualsAlgorithmOneForEveryShape) {
    for (const auto& [name, graph] : test::awkward_graphs()) {
        const auto ids = test::reversed_order(graph.m());
        for (const formats::SgtShape& shape : test::translation_shapes()) {
            const CsrFormat csr = test::format_of(graph, nullptr);
            EXPECT_EQ(translate(csr, shape), test::reference_translation(csr, shape))
                << name << ", " << shape.block_height << " x " << shape.block_width;
            const CsrFormat permuted = test::format_of(graph, ids.data());
            EXPECT_EQ(translate(permuted, shape).edge_id, test::reference_translation(permuted, shape).edge_id) << name;
        }
    }
}

TEST(Sgt, EmptyWindowsHaveNoBlocksAndDuplicatesStandTogether) {
    const CsrGraph graph = test::csr_of(50, 9, {{20, 4}, {20, 4}, {18, 4}, {20, 2}, {20, 4}});
    const auto t = translate(test::format_of(graph, nullptr), {16, 8});
    EXPECT_EQ(t.window_ptr, (std::vector<std::int32_t>{0, 0, 1, 1, 1}));
    EXPECT_EQ(t.block_cols, (std::vector<std::int32_t>{2, 4, -1, -1, -1, -1, -1, -1}));
    EXPECT_EQ(t.tile_position, (std::vector<std::int32_t>{32, 17, 33, 33, 33}));
}

TEST(Sgt, BlocksAreThoseThatTheFeaturesCount) {
    Registry registry;
    register_all(registry);
    for (const auto& [name, csr] : test::awkward_graphs()) {
        Graph graph(registry, cpu_device(), csr.view());
        const auto tiles = graph.format_as<SgtFormat>(kFormatSgt, Direction::forward, nullptr);
        const FeatureCounts counts = count_features(csr.view());
        EXPECT_EQ(tiles->n_blocks, counts.sgt_blocks_16x8) << name;
        EXPECT_EQ(tiles->window_ptr[tiles->n_windows], tiles->n_blocks) << name;
        EXPECT_LE(counts.sgt_blocks_16x8, counts.tc_blocks_16x8) << name;
        const auto reversed = graph.format_as<SgtFormat>(kFormatSgt, Direction::reversed, nullptr);
        EXPECT_EQ(reversed->n_rows, csr.n_cols) << name;
    }
}

TEST(Sgt, ReductionIsTheShareOfBlocksSaved) {
    EXPECT_DOUBLE_EQ(tc_block_reduction(0, 0), 0.0);
    EXPECT_DOUBLE_EQ(tc_block_reduction(8, 2), 0.75);
    EXPECT_DOUBLE_EQ(tc_block_reduction(5, 5), 0.0);
}

TEST(Sgt, RefusesShapesWithoutCellsAndTooLargeOnes) {
    EXPECT_THROW(formats::validate({0, 8}), Error);
    EXPECT_THROW(formats::validate({16, -1}), Error);
    EXPECT_THROW(formats::validate({512, 256}), Error);
    EXPECT_NO_THROW(formats::validate({256, 256}));
}

}  // namespace
}  // namespace gnntune
