// What a training step holds, and the formats that its calls share.
#include "core/dispatch/step.hpp"

#include <gtest/gtest.h>

#include "core/dispatch/shared_formats.hpp"
#include "core/registry/graph.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

std::string text_of(const Step& step) {
    std::string text;
    for (const StepCall& c : calls_of(step)) {
        text += c.role + ": " + to_text(c.problem) + ", " + std::to_string(c.runs_per_step) + " a step, " +
                std::to_string(c.runs_per_graph) + " before\n";
    }
    return text;
}

TEST(Step, GcnNormalisesOnceAndRunsBackThroughTheReversedGraph) {
    EXPECT_EQ(text_of({StepModel::gcn, {{64}, {64}, {7}}}),
              "normalisation, once: gcn_norm k=1 f32 sum unweighted forward, 0 a step, 1 before\n"
              "forward of layers 1 and 2: spmm k=64 f32 sum weighted forward self_loop, 2 a step, 0 before\n"
              "forward of layer 3: spmm k=7 f32 sum weighted forward self_loop, 1 a step, 0 before\n"
              "backward of layer 3: spmm k=7 f32 sum weighted reversed self_loop, 1 a step, 0 before\n"
              "backward of layers 1 and 2: spmm k=64 f32 sum weighted reversed self_loop, 2 a step, 0 before\n");
}

TEST(Step, AWidthOfTheInputSaysWhichLayersSumFirst) {
    // 29 < 2 * 16: summed before the product, once; 16 > 7: behind it, forward and backward.
    EXPECT_EQ(text_of({StepModel::gcn, {{16}, {7}}, 29}),
              "normalisation, once: gcn_norm k=1 f32 sum unweighted forward, 0 a step, 1 before\n"
              "forward of layer 1: spmm k=29 f32 sum weighted forward self_loop, 1 a step, 0 before\n"
              "forward of layer 2: spmm k=7 f32 sum weighted forward self_loop, 1 a step, 0 before\n"
              "backward of layer 2: spmm k=7 f32 sum weighted reversed self_loop, 1 a step, 0 before\n");
    // A wide input is summed behind the product; before a wider output the product comes last.
    EXPECT_EQ(text_of({StepModel::gcn, {{16}, {7}}, 33}), text_of({StepModel::gcn, {{16}, {7}}}));
    EXPECT_EQ(text_of({StepModel::gcn, {{16}, {40}}, 500}), text_of({StepModel::gcn, {{16}, {16}}}));
}

TEST(Step, ItsTextReadsBack) {
    EXPECT_EQ(to_text(Step{StepModel::gcn, {{16}, {7}}, 29}), "gcn 29:16,7");
    for (const Step& step : {Step{StepModel::gcn, {{64}, {7}}}, Step{StepModel::gcn, {{64}, {7}}, 29},
                             Step{StepModel::gat, {{8, 8}, {7, 1}}}, Step{StepModel::agnn, {{16}}}}) {
        EXPECT_EQ(parse_step(to_text(step)), step);
    }
    for (const char* text : {"", "gcn", "gcn ", "gcn 64,", "gcn 64x1", "gcn 0", "gat 8x", "gat 8x0", "sage 64",
                             "gcn 64 ", "gcn 64,07", "gcn :7", "gcn 0:7", "gcn 2:"}) {
        EXPECT_EQ(parse_step(text), std::nullopt) << text;
    }
}

TEST(Step, AttentionHasAGradientOfItsOwn) {
    EXPECT_EQ(text_of({StepModel::gat, {{8, 8}, {7, 1}}}),
              "forward of layer 1: gat k=8 heads=8 f32 sum unweighted forward, 1 a step, 0 before\n"
              "forward of layer 2: gat k=7 f32 sum unweighted forward, 1 a step, 0 before\n"
              "backward of layer 2: gat_grad k=7 f32 sum unweighted forward, 1 a step, 0 before\n"
              "backward of layer 1: gat_grad k=8 heads=8 f32 sum unweighted forward, 1 a step, 0 before\n");
    EXPECT_EQ(text_of({StepModel::agnn, {{16}, {16}}}),
              "forward of layers 1 and 2: agnn k=16 f32 sum unweighted forward, 2 a step, 0 before\n"
              "backward of layers 1 and 2: agnn_grad k=16 f32 sum unweighted forward, 2 a step, 0 before\n");
}

// The text is a step's identity in the store.
TEST(Step, TextsSayTheWidthOfEachLayerAndItsHeads) {
    EXPECT_EQ(to_text(Step{StepModel::gcn, {{64}, {64}}}), "gcn 64,64");
    EXPECT_EQ(to_text(Step{StepModel::gat, {{8, 8}, {7, 1}}}), "gat 8x8,7");
    EXPECT_EQ(to_text(Step{StepModel::agnn, {{16}}}), "agnn 16");
}

TEST(Step, ModelsReadBack) {
    for (const StepModel model : {StepModel::gcn, StepModel::gat, StepModel::agnn}) {
        EXPECT_EQ(parse_step_model(to_text(model)), model) << to_text(model);
    }
    for (const char* text : {"", "sage", "gcn 64", "GCN"}) EXPECT_EQ(parse_step_model(text), std::nullopt) << text;
}

class SharedFormatsTest : public testing::Test {
protected:
    SharedFormatsTest() {
        register_all(registry_);
        const test::EdgeList edges = test::random_edges(30, 20, 200, 1, 3);
        csr_ = test::csr_of(30, 20, edges);
        coo_ = test::coo_of(30, 20, edges);
    }
    Registry registry_;
    CsrGraph csr_;
    test::CooGraph coo_;
};

constexpr std::string_view kAll[] = {kFormatCsr, kFormatCsc, kFormatCoo, kFormatCooSorted, kFormatSgt};
constexpr Direction kDirections[] = {Direction::forward, Direction::reversed};

TEST_F(SharedFormatsTest, WhatAFormatIsMadeFromIsWhatBuildingItLeaves) {
    for (const char* base : {kFormatCsr, kFormatCoo}) {
        for (const std::string_view id : kAll) {
            for (const Direction direction : kDirections) {
                Graph graph = base == std::string(kFormatCsr) ? Graph(registry_, cpu_device(), csr_.view())
                                                              : Graph(registry_, cpu_device(), coo_.view());
                graph.format(id, direction, nullptr);
                SharedFormats shared(registry_, Backend::cpu, base, {});
                const FormatMask expected = shared.add(id, direction);
                FormatMask built = 0;
                for (const std::string_view other : kAll) {
                    for (const Direction d : kDirections) {
                        if (graph.has_format(other, d)) built |= shared.add(other, d);
                    }
                }
                EXPECT_EQ(shared.text(built), shared.text(expected))
                    << base << " -> " << id << " " << to_text(direction);
            }
        }
    }
}

TEST_F(SharedFormatsTest, IntermediatesArePaidOnceAndAliasesNotAtAll) {
    const std::vector<FormatBuild> builds{
        {"csr", "csr", Direction::reversed, 100, 800},  {"csr", "coo_sorted", Direction::reversed, 130, 400},
        {"csr", "sgt", Direction::reversed, 600, 900},  {"csr", "coo", Direction::forward, 40, 400},
        {"csr", "coo", Direction::reversed, 45, 0},     {"csr", "csc", Direction::forward, 110, 0},
        {"coo", "csr", Direction::reversed, 9999, 9999}};
    SharedFormats shared(registry_, Backend::cpu, kFormatCsr, builds);

    EXPECT_EQ(shared.add(kFormatCsr, Direction::forward), 0U);
    const FormatMask csc = shared.add(kFormatCsc, Direction::forward);
    EXPECT_EQ(csc, shared.add(kFormatCsr, Direction::reversed));
    EXPECT_EQ(shared.text(csc), "csr reversed");
    EXPECT_DOUBLE_EQ(shared.build_us(csc), 100);
    EXPECT_EQ(shared.bytes(csc), 800);
    const FormatMask sorted = shared.add(kFormatCooSorted, Direction::reversed);
    EXPECT_DOUBLE_EQ(shared.build_us(sorted), 130);
    EXPECT_EQ(shared.bytes(sorted), 1200);
    const FormatMask all = sorted | shared.add(kFormatSgt, Direction::reversed);
    EXPECT_DOUBLE_EQ(shared.build_us(all), 100 + 30 + 500);
    EXPECT_EQ(shared.bytes(all), 2100);
    const FormatMask coo = shared.add(kFormatCoo, Direction::reversed);
    EXPECT_EQ(shared.text(coo), "coo");
    EXPECT_DOUBLE_EQ(shared.build_us(coo), 40);
    EXPECT_EQ(shared.text(0), "none");
}

TEST_F(SharedFormatsTest, AConfigsOwnPreparationIsWhatItsFormatsLeave) {
    const std::vector<FormatBuild> builds{{"csr", "csr+csc", Direction::forward, 100, 800}};
    SharedFormats shared(registry_, Backend::cpu, kFormatCsr, builds);
    Graph graph(registry_, cpu_device(), csr_.view());
    const Query query = graph.query({Op::gat_grad, 8});
    const Config config = registry_.default_config(query, {});

    EXPECT_EQ(shared.text(shared.add(query, config, {})), "csr reversed");
    EXPECT_DOUBLE_EQ(shared.own_us(query, config, 130), 30);
    EXPECT_DOUBLE_EQ(shared.own_us(query, config, 90), 0);
    EXPECT_EQ(shared.add(query, Config::parse("gat_grad.nobody_has_it"), {}), 0U);
}

}  // namespace
}  // namespace gnntune
