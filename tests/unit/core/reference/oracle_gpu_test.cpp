// The device comparison gives what the host comparison gives, mistakes and NaN included.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/gpu/stream.hpp"
#include "core/ops/oracles.hpp"
#include "core/reference/compare_gpu.hpp"
#include "core/registry/device.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::reference {
namespace {

constexpr std::int32_t kK = 33;

class OracleGpu : public testing::Test {
protected:
    void SetUp() override {
        if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
        const CsrGraph graph = test::csr_of(500, 300, test::random_edges(500, 300, 4000, 2, 7));
        std::vector<float> x(300 * kK);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 0.7F);
        Problem problem;
        problem.k = kK;
        Operands inputs;
        inputs.x = x.data();
        oracle_ = oracles(problem, graph.view(), nullptr, inputs).front();
        for (const double v : oracle_.value) y_.push_back(static_cast<float>(v));
    }

    void expect_same(bool pass) {
        const DeviceOracle device(oracle_);
        const CudaStream stream;
        const auto y = to_device(y_.data(), y_.size());
        const Comparison host = compare(oracle_, y_.data(), Precision::fp32);
        const Comparison other = device.compare(y.data(), Precision::fp32, stream.get());
        EXPECT_EQ(host.pass(), pass);
        EXPECT_EQ(other.pass(), pass);
        EXPECT_EQ(other.worst_ratio, host.worst_ratio);
        if (std::isfinite(host.max_error)) {
            EXPECT_EQ(other.max_error, host.max_error);
            EXPECT_NEAR(other.mean_error, host.mean_error, 1e-12);
        }
    }

    Oracle oracle_;
    std::vector<float> y_;
};

TEST_F(OracleGpu, AcceptsRoundedValues) {
    expect_same(true);
}

TEST_F(OracleGpu, SeesOneWrongElement) {
    y_[y_.size() - 7] += 0.01F;
    expect_same(false);
}

TEST_F(OracleGpu, SeesNaN) {
    y_[4321] = std::numeric_limits<float>::quiet_NaN();
    expect_same(false);
}

}  // namespace
}  // namespace gnntune::reference
