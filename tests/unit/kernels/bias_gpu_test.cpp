// A bias and its gradient on the GPU, aligned and not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/gpu/stream.hpp"
#include "core/registry/device.hpp"
#include "kernels/dense/bias.hpp"
#include "tests/unit/kernels/bias_cases.hpp"
#include "tests/unit/kernels/shifted_array.hpp"

namespace gnntune::kernels {
namespace {

class BiasOnGpu {
public:
    explicit BiasOnGpu(std::size_t off) : off_(off) {}

    template <typename T>
    BiasResults<T> operator()(const BiasShape& shape, const BiasInputs<T>& in) const {
        BiasResults<T> out{in.x, in.x, in.bias};
        const CudaStream stream;
        ShiftedArray<T> x(in.x, off_), bias(in.bias, off_);
        ShiftedArray<T> y(out.y, off_), in_place(in.x, off_), grad_bias(in.bias, off_);
        const std::vector<float> nothing(bias_grad_workspace(shape) / sizeof(float), NAN);
        ShiftedArray<float> workspace(nothing, 0);
        bias_add_on_gpu(shape, x.data(), bias.data(), y.data(), stream.get());
        bias_add_on_gpu(shape, in_place.data(), bias.data(), in_place.data(), stream.get());
        bias_grad_on_gpu(shape, x.data(), grad_bias.data(), workspace.data(), stream.get());
        GNNTUNE_CUDA(cudaStreamSynchronize(stream.get()));
        y.copy_to(out.y);
        in_place.copy_to(out.in_place);
        grad_bias.copy_to(out.grad_bias);
        return out;
    }

private:
    std::size_t off_;
};

TEST(BiasGpu, AgreesWithDoubleInEveryShapeAndTypeAlignedAndNot) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    for (const std::size_t off : {0, 1, 2}) {
        for_every_bias_shape([&](const BiasShape& shape) { expect_bias_right(BiasOnGpu(off), shape); });
    }
}

TEST(BiasGpu, TheSameBitsEachTime) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    const BiasShape shape{300000, 40};
    const BiasInputs<float> in(shape);
    const BiasResults<float> first = BiasOnGpu(0)(shape, in);
    EXPECT_EQ(first.grad_bias, BiasOnGpu(0)(shape, in).grad_bias);
}

}  // namespace
}  // namespace gnntune::kernels
