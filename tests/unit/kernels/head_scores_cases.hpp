// Shapes, inputs and what has to come out of kernels/dense/head_scores.hpp, for either backend.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "core/common/float16.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/head_scores.hpp"

namespace gnntune::kernels {

/// Which results are asked for.
struct HeadWants {
    bool grad_x = true;
    bool grad_att_row = true;
    bool grad_att_col = true;
};

template <typename T>
struct HeadInputs {
    explicit HeadInputs(const HeadShape& s) {
        const auto columns = static_cast<std::size_t>(s.heads) * static_cast<std::size_t>(s.k);
        const auto n = static_cast<std::size_t>(s.n);
        const auto heads = static_cast<std::size_t>(s.heads);
        x = values(n * columns);
        att_row = values(columns);
        att_col = values(columns);
        grad_score_row = values(n * heads);
        grad_score_col = values(n * heads);
        grad_x = values(n * columns);
    }
    std::vector<T> x, att_row, att_col, grad_score_row, grad_score_col, grad_x;

private:
    std::vector<T> values(std::size_t count) {
        std::uniform_real_distribution<float> unit(-1.0F, 1.0F);
        std::vector<T> made(count);
        for (T& value : made) value = from_float<T>(unit(random_));
        return made;
    }
    std::mt19937 random_{7};
};

template <typename T>
struct HeadResults {
    HeadResults(const HeadShape& s, const HeadInputs<T>& in)
        : score_row(in.grad_score_row.size()),
          score_col(in.grad_score_col.size()),
          grad_x(in.grad_x),
          grad_att_row(static_cast<std::size_t>(s.heads) * static_cast<std::size_t>(s.k), kUntouched()),
          grad_att_col(grad_att_row) {}

    static T kUntouched() { return from_float<T>(5.0F); }

    HeadScoreGrads grads(const HeadInputs<T>& in, const HeadWants& wants) {
        return {in.x.data(),
                in.att_row.data(),
                in.att_col.data(),
                in.grad_score_row.data(),
                in.grad_score_col.data(),
                wants.grad_x ? grad_x.data() : nullptr,
                wants.grad_att_row ? grad_att_row.data() : nullptr,
                wants.grad_att_col ? grad_att_col.data() : nullptr};
    }

    std::vector<T> score_row, score_col, grad_x, grad_att_row, grad_att_col;
};

/// Half a unit in the last place of the storage type, and what sums in fp32 may be off.
template <typename T>
double tolerance(double magnitude) {
    const double place = sizeof(T) == 4 ? 0.0 : std::is_same_v<T, Float16> ? 0x1p-11 : 0x1p-8;
    return magnitude * (place + 1e-6) + 1e-6;
}

/// `compute(shape, inputs, wants)` gives HeadResults.
template <typename T, typename F>
void expect_right_as(const F& compute, const HeadShape& shape, const HeadWants& wants) {
    const HeadInputs<T> in(shape);
    const HeadResults<T> out = compute(shape, in, wants);
    const auto k = static_cast<std::size_t>(shape.k);
    const auto heads = static_cast<std::size_t>(shape.heads);
    const std::size_t columns = heads * k;
    const auto n = static_cast<std::size_t>(shape.n);
    const auto at = [](const std::vector<T>& values, std::size_t i) {
        return static_cast<double>(to_float(values[i]));
    };
    const std::string what = std::to_string(shape.n) + " rows, " + std::to_string(heads) + " heads of " +
                             std::to_string(k) + ", type " + std::to_string(static_cast<int>(shape.dtype));
    const auto expect = [&](const char* name, const std::vector<T>& found, std::size_t i, double wanted, double size) {
        ASSERT_NEAR(at(found, i), wanted, tolerance<T>(size)) << name << "[" << i << "], " << what;
    };
    for (std::size_t i = 0; i < n * heads; ++i) {
        double row = 0, col = 0, size = 0;
        for (std::size_t f = 0; f < k; ++f) {
            const double x = at(in.x, i * k + f);
            row += x * at(in.att_row, i % heads * k + f);
            col += x * at(in.att_col, i % heads * k + f);
            size += std::abs(x);
        }
        expect("score_row", out.score_row, i, row, size);
        expect("score_col", out.score_col, i, col, size);
    }
    for (std::size_t i = 0; i < n * columns; ++i) {
        const std::size_t c = i % columns;
        const std::size_t score = i / columns * heads + c / k;
        const double added =
            at(in.grad_score_row, score) * at(in.att_row, c) + at(in.grad_score_col, score) * at(in.att_col, c);
        expect("grad_x", out.grad_x, i, at(in.grad_x, i) + (wants.grad_x ? added : 0.0), 3.0);
    }
    const double untouched = static_cast<double>(to_float(HeadResults<T>::kUntouched()));
    for (std::size_t c = 0; c < columns; ++c) {
        double row = 0, col = 0, size = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = at(in.x, i * columns + c);
            row += x * at(in.grad_score_row, i * heads + c / k);
            col += x * at(in.grad_score_col, i * heads + c / k);
            size += std::abs(x);
        }
        expect("grad_att_row", out.grad_att_row, c, wants.grad_att_row ? row : untouched, size);
        expect("grad_att_col", out.grad_att_col, c, wants.grad_att_col ? col : untouched, size);
    }
}

template <typename F>
void expect_right(const F& compute, const HeadShape& shape, const HeadWants& wants) {
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) { expect_right_as<T>(compute, shape, wants); });
}

/// Shapes with heads and widths of every kind, each type, and each choice of results on one of them.
template <typename F>
void for_every_head_case(const F& f) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        for (const auto& [n, heads, k] : std::vector<std::tuple<int, int, int>>{{0, 3, 5},
                                                                                {1, 1, 1},
                                                                                {5, 1, 8},
                                                                                {37, 8, 8},
                                                                                {33, 3, 5},
                                                                                {100, 2, 6},
                                                                                {7, 4, 33},
                                                                                {50, 1, 64},
                                                                                {300, 8, 8},
                                                                                {129, 1, 7},
                                                                                {9, 2, 160},
                                                                                {3, 5, 300},
                                                                                {2, 1, 20000},
                                                                                {70000, 1, 1}}) {
            f(HeadShape{n, heads, k, dtype}, HeadWants{});
        }
        for (int bits = 0; bits < 8; ++bits) {
            f(HeadShape{211, 4, 12, dtype}, HeadWants{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
        }
    }
}

template <typename F>
auto with_threads(int threads, const F& f) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    auto found = f();
    omp_set_num_threads(before);
    return found;
}

}  // namespace gnntune::kernels
