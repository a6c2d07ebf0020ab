// Scores of attention vectors and their gradients, against sums in double.
#include "kernels/dense/head_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/common/float16.hpp"
#include "tests/unit/kernels/head_scores_cases.hpp"

namespace gnntune::kernels {
namespace {

class OnCpu {
public:
    template <typename T>
    HeadResults<T> operator()(const HeadShape& shape, const HeadInputs<T>& in, const HeadWants& wants) const {
        HeadResults<T> out(shape, in);
        head_scores(Backend::cpu, shape,
                    {in.x.data(), in.att_row.data(), in.att_col.data(), out.score_row.data(), out.score_col.data()},
                    nullptr);
        std::vector<float> workspace(head_score_grads_workspace(shape) / sizeof(float), NAN);
        head_score_grads(Backend::cpu, shape, out.grads(in, wants), workspace.data(), nullptr);
        return out;
    }
};

TEST(HeadScores, AgreeWithDoubleInEveryShapeAndType) {
    for_every_head_case([](const HeadShape& shape, const HeadWants& wants) { expect_right(OnCpu{}, shape, wants); });
}

TEST(HeadScores, TheSameBitsForEveryNumberOfThreads) {
    const HeadShape shape{5000, 8, 8};
    const HeadInputs<float> in(shape);
    const HeadResults<float> alone = with_threads(1, [&] { return OnCpu{}(shape, in, HeadWants{}); });
    const HeadResults<float> together = with_threads(4, [&] { return OnCpu{}(shape, in, HeadWants{}); });
    EXPECT_EQ(alone.grad_att_row, together.grad_att_row);
    EXPECT_EQ(alone.grad_att_col, together.grad_att_col);
    EXPECT_EQ(alone.score_row, together.score_row);
    EXPECT_EQ(alone.grad_x, together.grad_x);
}

}  // namespace
}  // namespace gnntune::kernels
