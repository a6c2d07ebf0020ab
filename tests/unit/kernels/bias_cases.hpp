// Shapes, inputs and what has to come out of kernels/dense/bias.hpp, for either backend.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/common/float16.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/bias.hpp"

namespace gnntune::kernels {

template <typename T>
struct BiasInputs {
    explicit BiasInputs(const BiasShape& s) {
        std::mt19937 random{11};
        // Not about 0: sums of long columns have to be of many like terms.
        std::uniform_real_distribution<float> unit(0.25F, 1.0F);
        x.resize(static_cast<std::size_t>(s.n) * static_cast<std::size_t>(s.k));
        bias.resize(static_cast<std::size_t>(s.k));
        for (T& value : x) value = from_float<T>(unit(random));
        for (T& value : bias) value = from_float<T>(unit(random));
    }
    std::vector<T> x, bias;
};

template <typename T>
struct BiasResults {
    std::vector<T> y, in_place, grad_bias;
};

/// `compute(shape, inputs)` gives BiasResults: bias_add of x to y and in place, and bias_grad of x.
template <typename F>
void expect_bias_right(const F& compute, const BiasShape& shape) {
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) {
        const BiasInputs<T> in(shape);
        const BiasResults<T> out = compute(shape, in);
        const auto k = static_cast<std::size_t>(shape.k);
        const auto at = [](const std::vector<T>& values, std::size_t i) {
            return static_cast<double>(to_float(values[i]));
        };
        const double place = sizeof(T) == 4 ? 0x1p-22 : std::is_same_v<T, Float16> ? 0x1p-11 : 0x1p-8;
        const std::string what = std::to_string(shape.n) + " rows of " + std::to_string(shape.k) + ", type " +
                                 std::to_string(static_cast<int>(shape.dtype));
        ASSERT_EQ(out.y.size(), in.x.size());
        std::vector<double> sums(k);
        for (std::size_t i = 0; i < in.x.size(); ++i) {
            const double sum = at(in.x, i) + at(in.bias, i % k);
            ASSERT_NEAR(at(out.y, i), sum, sum * place) << "y[" << i << "], " << what;
            ASSERT_EQ(at(out.in_place, i), at(out.y, i)) << "in place, [" << i << "], " << what;
            sums[i % k] += at(in.x, i);
        }
        // A chain of 256 terms and a few levels of sums above it.
        for (std::size_t c = 0; c < k; ++c) {
            ASSERT_NEAR(at(out.grad_bias, c), sums[c], sums[c] * (place + 2e-6)) << "grad_bias[" << c << "], " << what;
        }
    });
}

/// Widths of whole vectors and not, narrow and wide; one row, few, and so many that parts are summed up by themselves.
template <typename F>
void for_every_bias_shape(const F& f) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        for (const auto& [n, k] : std::vector<std::pair<int, int>>{{0, 5},
                                                                   {1, 1},
                                                                   {1, 1000},
                                                                   {3, 8},
                                                                   {33, 7},
                                                                   {100, 16},
                                                                   {257, 33},
                                                                   {1023, 64},
                                                                   {1025, 2},
                                                                   {40, 130},
                                                                   {9, 5000},
                                                                   {16500, 12},
                                                                   {50000, 1},
                                                                   {30000, 40},
                                                                   {70001, 1},
                                                                   {16501, 12},
                                                                   {30001, 40},
                                                                   {2000, 300}}) {
            f(BiasShape{n, k, dtype});
        }
    }
}

}  // namespace gnntune::kernels
