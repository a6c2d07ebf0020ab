// Scores of attention vectors and their gradients on the GPU, aligned and not.
#include <gtest/gtest.h>

#include <cstddef>

#include "core/gpu/stream.hpp"
#include "core/registry/device.hpp"
#include "kernels/dense/head_scores.hpp"
#include "tests/unit/kernels/head_scores_cases.hpp"
#include "tests/unit/kernels/shifted_array.hpp"

namespace gnntune::kernels {
namespace {

class OnGpu {
public:
    explicit OnGpu(std::size_t off) : off_(off) {}

    template <typename T>
    HeadResults<T> operator()(const HeadShape& shape, const HeadInputs<T>& in, const HeadWants& wants) const {
        HeadResults<T> out(shape, in);
        const CudaStream stream;
        ShiftedArray<T> x(in.x, off_), att_row(in.att_row, off_), att_col(in.att_col, off_);
        ShiftedArray<T> grad_score_row(in.grad_score_row, off_), grad_score_col(in.grad_score_col, off_);
        ShiftedArray<T> score_row(out.score_row, off_), score_col(out.score_col, off_), grad_x(in.grad_x, off_);
        ShiftedArray<T> grad_att_row(out.grad_att_row, off_), grad_att_col(out.grad_att_col, off_);
        const std::vector<float> nothing(head_score_grads_workspace(shape) / sizeof(float), NAN);
        ShiftedArray<float> workspace(nothing, 0);
        head_scores(Backend::cuda, shape,
                    {x.data(), att_row.data(), att_col.data(), score_row.data(), score_col.data()}, stream.get());
        head_score_grads_on_gpu(
            shape,
            {x.data(), att_row.data(), att_col.data(), grad_score_row.data(), grad_score_col.data(),
             wants.grad_x ? grad_x.data() : nullptr, wants.grad_att_row ? grad_att_row.data() : nullptr,
             wants.grad_att_col ? grad_att_col.data() : nullptr},
            workspace.data(), stream.get());
        GNNTUNE_CUDA(cudaStreamSynchronize(stream.get()));
        score_row.copy_to(out.score_row);
        score_col.copy_to(out.score_col);
        grad_x.copy_to(out.grad_x);
        grad_att_row.copy_to(out.grad_att_row);
        grad_att_col.copy_to(out.grad_att_col);
        return out;
    }

private:
    std::size_t off_;
};

TEST(HeadScoresGpu, AgreeWithDoubleInEveryShapeAndTypeAlignedAndNot) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    for (const std::size_t off : {0, 1, 2}) {
        for_every_head_case(
            [&](const HeadShape& shape, const HeadWants& wants) { expect_right(OnGpu(off), shape, wants); });
    }
}

TEST(HeadScoresGpu, TheSameBitsEachTime) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    const HeadShape shape{50000, 8, 8};
    const HeadInputs<float> in(shape);
    const HeadResults<float> first = OnGpu(0)(shape, in, HeadWants{});
    const HeadResults<float> again = OnGpu(0)(shape, in, HeadWants{});
    EXPECT_EQ(first.grad_att_row, again.grad_att_row);
    EXPECT_EQ(first.grad_att_col, again.grad_att_col);
}

}  // namespace
}  // namespace gnntune::kernels
