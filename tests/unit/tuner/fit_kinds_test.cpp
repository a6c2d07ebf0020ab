// What a model learns of kinds of problems beside the plain one.
#include "tests/unit/tuner/fit_fixture.hpp"
#include "tuner/evaluate.hpp"
#include "tuner/fit.hpp"

namespace gnntune::tuner {
namespace {

TEST_F(FitTest, KindsAreRankedOnceEnoughGraphsHaveThem) {
    auto measured = problems();
    const std::size_t graphs = measured.size();
    // In 16 bits everything is the other way round.
    const auto add_narrow = [&](std::size_t g) {
        TrainingProblem p = measured[g];
        p.problem.dtype = g % 2 == 0 ? DType::f16 : DType::bf16;
        double slowest = 0;
        double fastest = INFINITY;
        for (const TimedConfig& c : p.configs) slowest = std::max(slowest, c.us), fastest = std::min(fastest, c.us);
        for (TimedConfig& c : p.configs) c.us = slowest * fastest / c.us;
        measured.push_back(std::move(p));
    };
    Problem narrow = measured.front().problem;
    narrow.dtype = DType::f16;
    Problem maximum = measured.front().problem;
    maximum.reduce = Reduce::max;

    for (std::size_t g = 0; g + 1 < graphs / 10; ++g) add_narrow(g);
    const model::Model few = fit(measured, registry_);
    EXPECT_TRUE(few.ranks(measured.front().problem));
    EXPECT_EQ(few.unknown_kind(narrow), "storage in 16 bits");
    EXPECT_EQ(few.unknown_kind(maximum), "maxima");
    EXPECT_TRUE(model::predict(few, registry_, measured.back().query(), {}, {measured[0].configs[0].config}).empty());

    for (std::size_t g = graphs / 10 - 1; g < graphs; ++g) add_narrow(g);
    EXPECT_TRUE(fit(measured, registry_).ranks(narrow));
    EvaluateOptions options;
    options.folds = 5;
    options.searches = false;
    const Evaluation e = evaluate(measured, measured, measured, registry_, options);
    ASSERT_EQ(e.cases.size(), 2 * graphs);
    for (const DType dtype : every_dtype()) {
        const auto scores = scores_of(e, [&](const EvaluatedCase& c) { return c.problem.dtype == dtype; });
        ASSERT_EQ(scores.front().name, "model");
        EXPECT_EQ(static_cast<std::size_t>(scores.front().cases), dtype == DType::f32 ? graphs : graphs / 2);
        EXPECT_GT(scores.front().geomean, 0.95) << to_text(dtype);
    }
}

// Where a variant is slow, that is all there is to learn of it.
TEST_F(FitTest, ThatAVariantIsSlowInAKindIsLearnt) {
    auto measured = problems();
    const std::size_t graphs = measured.size();
    for (std::size_t g = 0; g < graphs; g += 5) {
        TrainingProblem p = measured[g];
        p.problem.dtype = DType::f16;
        for (TimedConfig& c : p.configs) c.us *= c.config.variant == "spmm.cpu_edges" ? 3 : 1;
        p.best_log_us = INFINITY;
        for (const TimedConfig& c : p.configs) p.best_log_us = std::min(p.best_log_us, std::log(c.us));
        measured.push_back(std::move(p));
    }
    // Of graphs without such a problem: by how much the fastest of it is thought to be behind the fastest of all.
    const auto behind = [&](double least) {
        FitOptions options;
        options.least = least;
        options.folds = 0;
        const model::Model m = fit(measured, registry_, options);
        double sum = 0;
        int count = 0;
        for (std::size_t g = 1; g < graphs; g += 5) {
            TrainingProblem p = measured[g];
            p.problem.dtype = DType::f16;
            std::vector<Config> configs;
            for (const TimedConfig& c : p.configs) configs.push_back(c.config);
            double edges = INFINITY;
            double rows = INFINITY;
            for (const model::Prediction& r : model::predict(m, registry_, p.query(), p.constants, configs)) {
                double& fastest = configs[r.config].variant == "spmm.cpu_edges" ? edges : rows;
                if (configs[r.config].variant == "spmm.cpu_rows" || &fastest == &edges)
                    fastest = std::min(fastest, r.log_us);
            }
            sum += edges - rows;
            ++count;
        }
        return std::exp(sum / count);
    };
    const double known = behind(FitOptions().least);
    EXPECT_GT(known, 1.6);
    const double unheard = behind(0);
    EXPECT_GT(known, 1.15 * unheard);
}

}  // namespace
}  // namespace gnntune::tuner
