// The gradients that the oracle of spmm_grad gives are those of the oracle of spmm: central differences of the loss
// L = sum of grad_y * y, which is linear in every input, so that they are exact up to rounding in double. A maximum is
// linear while its winners stay: steps are small then, and values such that their products are exact in fp32.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/ops/arrays.hpp"
#include "core/ops/oracles.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::reference {
namespace {

struct Case {
    std::int32_t n_rows;
    std::int32_t n_cols;
    test::EdgeList edges;
    Problem problem;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << to_text(c.problem) << ", " << c.n_rows << " rows";
}

class SpmmGrad : public testing::TestWithParam<Case> {
protected:
    SpmmGrad() : graph_(coo_to_csr(test::coo_of(c_.n_rows, c_.n_cols, c_.edges).view(), &edge_id_)) {
        const Problem& p = c_.problem;
        fill(x_, std::int64_t{c_.n_cols} * p.k * p.heads, 1);
        fill(grad_y_, std::int64_t{c_.n_rows} * p.k * p.heads, 2);
        fill(edge_weight_, graph_.m() * weight_heads(p), 3);
        fill(self_weight_, std::int64_t{c_.n_rows} * weight_heads(p), 4);
        in_.x = x_.data();
        in_.grad_y = grad_y_.data();
        in_.edge_weight = edge_weight_.data();
        in_.self_weight = self_weight_.data();
        if (p.reduce != Reduce::max) return;
        step_ = 0x1p-14F;
        for (float& v : x_) v = std::round(v * 1024) / 1024;
        for (float& v : edge_weight_) v = std::round(v * 16) / 16;
        Problem forward = p;
        forward.op = Op::spmm;
        const Oracle winners = oracles(forward, graph_.view(), edge_id_.data(), in_).at(1);
        argmax_.assign(winners.value.begin(), winners.value.end());
        in_.argmax_saved = argmax_.data();
    }

    double loss() const {
        Problem p = c_.problem;
        p.op = Op::spmm;
        const Oracle y = oracles(p, graph_.view(), edge_id_.data(), in_).front();
        double sum = 0;
        for (std::size_t i = 0; i < y.value.size(); ++i) sum += y.value[i] * grad_y_[i];
        return sum;
    }

    void expect_differences(const Oracle& gradient, std::vector<float>& input) const {
        ASSERT_EQ(gradient.value.size(), input.size());
        for (std::size_t i = 0; i < input.size(); ++i) {
            const float kept = input[i];
            input[i] = kept + step_;
            const double high = input[i];
            const double above = loss();
            input[i] = kept - step_;
            const double low = input[i];
            const double below = loss();
            input[i] = kept;
            EXPECT_NEAR(gradient.value[i], (above - below) / (high - low), 1e-10) << "element " << i;
        }
    }

    const Case& c_ = GetParam();
    HostVector<std::int32_t> edge_id_;
    CsrGraph graph_;
    std::vector<float> x_;
    std::vector<float> grad_y_;
    std::vector<float> edge_weight_;
    std::vector<float> self_weight_;
    std::vector<std::int32_t> argmax_;
    float step_ = 0.5F;
    Operands in_;

private:
    static void fill(std::vector<float>& values, std::int64_t size, std::uint32_t seed) {
        std::mt19937 random(seed);
        for (std::int64_t i = 0; i < size; ++i) {
            values.push_back(static_cast<float>(static_cast<double>(random()) * 0x1p-31 - 1.0));
        }
    }
};

TEST_P(SpmmGrad, IsTheCentralDifferenceOfSpmm) {
    const auto gradients = oracles(c_.problem, graph_.view(), edge_id_.data(), in_);
    std::size_t next = 0;

    expect_differences(gradients.at(next++), x_);
    if (c_.problem.weighted) expect_differences(gradients.at(next++), edge_weight_);
    if (c_.problem.self_loop) expect_differences(gradients.at(next++), self_weight_);

    EXPECT_EQ(gradients.size(), next);
}

std::vector<Case> cases() {
    // Duplicates, a self loop, rows and columns without edges, no order.
    const test::EdgeList square{{4, 1}, {0, 3}, {2, 2}, {4, 1}, {0, 1}, {4, 0}, {0, 3}, {2, 5}};
    const test::EdgeList wide{{1, 6}, {0, 0}, {1, 6}, {3, 2}, {1, 1}, {0, 6}};
    std::vector<Case> all;
    for (const bool weighted : {false, true}) {
        for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::max}) {
            for (const std::int32_t heads : {1, 3}) {
                Problem p;
                p.op = Op::spmm_grad;
                p.k = 2;
                p.heads = heads;
                p.reduce = reduce;
                p.weighted = weighted;
                all.push_back({4, 7, wide, p});
                all.push_back({6, 6, square, p});
                all.back().problem.self_loop = reduce != Reduce::max;
            }
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, SpmmGrad, testing::ValuesIn(cases()));

}  // namespace
}  // namespace gnntune::reference
