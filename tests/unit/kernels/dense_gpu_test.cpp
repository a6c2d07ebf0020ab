// Dense variants where the conformance suite does not look: whom they refuse (host code, no GPU needed), edges that
// occur more often than TF32 can count, one plan on many threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/dispatch/plan.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/graph/device_graph.hpp"
#include "kernels/common/dense.hpp"
#include "kernels/formats/dense/dense.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::dense_gpu_test {
namespace {

constexpr const char* kOverride = "NVIDIA_TF32_OVERRIDE";

/// The variable for the time of a test.
class TF32Override {
public:
    explicit TF32Override(const char* value) {
        if (const char* old = std::getenv(kOverride)) old_ = old;
        set(value);
    }
    TF32Override(const TF32Override&) = delete;
    TF32Override& operator=(const TF32Override&) = delete;
    ~TF32Override() { set(old_ ? old_->c_str() : nullptr); }

private:
    static void set(const char* value) {
        if (value) {
            setenv(kOverride, value, 1);
        } else {
            unsetenv(kOverride);
        }
    }
    std::optional<std::string> old_;
};

const Registry& registry() {
    static const Registry kRegistry = [] {
        Registry r;
        register_all(r);
        return r;
    }();
    return kRegistry;
}

/// A query of 1000 x 1000 vertices on a device of `memory_bytes`.
Query query_of(std::int64_t m, const Device& device) {
    Query q;
    q.problem.k = 16;
    q.n_rows = q.n_cols = 1000;
    q.m = m;
    q.device = &device;
    return q;
}

TEST(Dense, RefusesGraphsThatAreTooSparseOrTooLarge) {
    const TF32Override none(nullptr);
    if (!kernels::find_cublas(Precision::fp32)) GTEST_SKIP() << "no cuBLAS here";
    Device device;
    const auto refusal = [&](std::int64_t m, Precision precision) {
        return kernels::require_dense(query_of(m, device), precision).reason;
    };

    EXPECT_EQ(refusal(15625, Precision::fp32), "");
    EXPECT_NE(refusal(15624, Precision::fp32).find("of the cells have an edge"), std::string::npos);
    EXPECT_EQ(refusal(1954, Precision::tf32), "");
    EXPECT_NE(refusal(1953, Precision::tf32).find("of the cells have an edge"), std::string::npos);
    EXPECT_NE(refusal(0, Precision::fp32), "");
    device.environment.memory_bytes = 16000000;
    EXPECT_EQ(refusal(20000, Precision::fp32), "");
    device.environment.memory_bytes = 15999999;
    EXPECT_NE(refusal(20000, Precision::fp32).find("a quarter of the device's memory"), std::string::npos);
}

TEST(Dense, RefusesFp32WhereTheEnvironmentForcesTf32) {
    const Device device;
    {
        const TF32Override forced("1");
        EXPECT_NE(kernels::require_dense(query_of(500000, device), Precision::fp32).reason.find(kOverride),
                  std::string::npos);
        EXPECT_EQ(kernels::require_dense(query_of(500000, device), Precision::tf32).reason.find(kOverride),
                  std::string::npos);
    }
    const TF32Override off("0");
    EXPECT_EQ(kernels::require_dense(query_of(500000, device), Precision::fp32).reason.find(kOverride),
              std::string::npos);
}

TEST(Dense, WorkspaceOfCublasGrowsWithTheResultsUpToItsRecommendation) {
    EXPECT_EQ(kernels::cublas_workspace_bytes(std::int64_t{1} << 40, 90), 32U << 20);
    EXPECT_EQ(kernels::cublas_workspace_bytes(std::int64_t{1} << 40, 80), 4U << 20);
    std::size_t last = 0;
    for (std::int64_t results = 1; results < 1 << 20; results = results * 3 + 1) {
        const std::size_t bytes = kernels::cublas_workspace_bytes(results, 90);
        EXPECT_EQ(bytes % 256, 0U);
        EXPECT_GE(bytes, std::size_t{1} << 20);
        EXPECT_GE(bytes, last);
        last = bytes;
    }
    EXPECT_EQ(last, 32U << 20);
}

/// A graph on the GPU with x, and a stream.
struct OnGpu {
    explicit OnGpu(const CsrGraph& host, std::int32_t width)
        : arrays(host.view()), graph(registry(), device, arrays.view()), k(width) {
        HostVector<float> values(static_cast<std::size_t>(host.n_cols) * static_cast<std::size_t>(k));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 41) / 7.0F - 2.5F;
        x_host = values;
        x = to_device(values.data(), values.size());
    }

    Problem problem() const {
        Problem p;
        p.k = k;
        return p;
    }

    HostVector<float> run(const Plan& plan) const {
        const CudaStream stream;
        DeviceBuffer<float> y(static_cast<std::size_t>(graph.n_rows()) * static_cast<std::size_t>(k));
        DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
        Operands o;
        o.x = x.data();
        o.y = y.data();
        plan.run(o, workspace.data(), stream.get());
        stream.synchronize();
        return y.to_host();
    }

    Device device = cuda_device(0);
    DeviceCsr arrays;
    Graph graph;
    std::int32_t k;
    HostVector<float> x_host;
    DeviceBuffer<float> x;
};

TEST(DenseGpu, CountsEdgesAndRoundsCountsThatTf32DoesNotHave) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    if (!kernels::find_cublas(Precision::tf32)) GTEST_SKIP() << "no cuBLAS here";
    test::EdgeList edges(3001, {1, 2});  // 12 significant bits
    edges.emplace_back(0, 0);
    edges.emplace_back(2, 4);
    edges.emplace_back(2, 4);
    OnGpu gpu(test::csr_of(3, 5, edges), 4);

    const auto dense = gpu.graph.format_as<formats::DenseFormat>(formats::kFormatDense, Direction::forward, nullptr);
    HostVector<float> values(24);
    GNNTUNE_CUDA(cudaMemcpy(values.data(), dense->values, 24 * sizeof(float), cudaMemcpyDeviceToHost));
    HostVector<float> expected(24, 0.0F);
    expected[0] = 1, expected[8 + 2] = 3001, expected[16 + 4] = 2;
    EXPECT_EQ(dense->stride, 8);
    EXPECT_EQ(dense->max_multiplicity, 3001);
    EXPECT_EQ(values, expected);

    const Plan plan(gpu.graph, gpu.problem(), Config::parse("spmm.dense_tf32{array=format}"), nullptr);
    const auto y = gpu.run(plan);
    for (std::size_t f = 0; f < 4; ++f) {
        const float right = 3001 * gpu.x_host[2 * 4 + f];
        EXPECT_NEAR(y[4 + f], right, std::abs(right) * 1e-3F) << f;
    }
}

TEST(DenseGpu, OnePlanServesManyThreads) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    if (!kernels::find_cublas(Precision::fp32)) GTEST_SKIP() << "no cuBLAS here";
    OnGpu gpu(test::csr_of(700, 500, test::random_edges(700, 500, 60000, 1, 3)), 72);
    const Plan plan(gpu.graph, gpu.problem(), Config::parse("spmm.dense{array=format}"), nullptr);
    const auto alone = gpu.run(plan);

    std::vector<HostVector<float>> results(8);
    std::vector<std::thread> threads;
    for (auto& result : results) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20; ++i) result = gpu.run(plan);
        });
    }
    for (std::thread& t : threads) t.join();

    for (const auto& result : results) EXPECT_TRUE(result == alone);
}

}  // namespace
}  // namespace gnntune::dense_gpu_test
