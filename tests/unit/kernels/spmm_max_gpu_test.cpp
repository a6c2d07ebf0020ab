// The maximum on the GPU where the conformance suite hardly looks: many equal products, zeros of both signs, infinities
// and NaNs, in rows of every kind of team and cut into pieces.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/dispatch/plan.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/graph/device_graph.hpp"
#include "core/ops/oracles.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune::spmm_max_gpu_test {
namespace {

const Registry& registry() {
    static const Registry kRegistry = [] {
        Registry r;
        register_all(r);
        return r;
    }();
    return kRegistry;
}

/// x and weights of a few values each.
HostVector<float> drawn(std::size_t count, const std::vector<float>& from, std::mt19937_64& random) {
    HostVector<float> values(count);
    for (float& value : values) value = from[random() % from.size()];
    return values;
}

void expect_right(const CsrGraph& host, const std::vector<float>& values, bool weighted, std::int32_t k) {
    std::mt19937_64 random(5);
    const HostVector<float> x =
        drawn(static_cast<std::size_t>(host.n_cols) * static_cast<std::size_t>(k), values, random);
    const HostVector<float> w = drawn(static_cast<std::size_t>(host.m()), {1, 1, -1, 0.5F}, random);
    Problem p;
    p.k = k;
    p.reduce = Reduce::max;
    p.weighted = weighted;
    Operands in;
    in.x = x.data();
    in.edge_weight = weighted ? w.data() : nullptr;
    const auto oracles = reference::oracles(p, host.view(), nullptr, in);

    const Device device = cuda_device(0);
    const DeviceCsr arrays(host.view());
    Graph graph(registry(), device, arrays.view());
    const CudaStream stream;
    const auto x_there = to_device(x.data(), x.size());
    const auto w_there = to_device(w.data(), w.size());
    for (const Variant& v : registry().variants()) {
        const Query query = graph.query(p);
        if (v.op != Op::spmm || v.backend != Backend::cuda || !takes(v, query)) continue;
        for (const Params& params : v.space(query)) {
            const Config config{v.id, params};
            SCOPED_TRACE(config.text());
            const Plan plan(graph, p, config, nullptr);
            const auto size = static_cast<std::size_t>(host.n_rows) * static_cast<std::size_t>(k);
            DeviceBuffer<float> y(size);
            DeviceBuffer<std::int32_t> argmax(size);
            DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
            Operands o;
            o.x = x_there.data();
            o.edge_weight = weighted ? w_there.data() : nullptr;
            o.y = y.data();
            o.argmax = argmax.data();
            for (const bool asked : {true, false}) {
                if (!asked) o.argmax = nullptr;
                plan.run(o, workspace.data(), stream.get());
                stream.synchronize();
                const auto got = y.to_host();
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < size; ++i) {
                    const auto expected = static_cast<float>(oracles[0].value[i]);
                    if (!(got[i] == expected || (std::isnan(got[i]) && std::isnan(expected)))) ++wrong;
                }
                EXPECT_EQ(wrong, 0U) << (asked ? "with argmax" : "without");
            }
            EXPECT_TRUE(reference::compare(oracles[1], argmax.to_host().data(), Precision::fp32).pass());
        }
    }
}

TEST(SpmmMaxGpu, OfEqualsTheFirstWinsAndNanOverEverything) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const CsrGraph graph = test::csr_of(700, 400, test::random_edges(700, 400, 60000, 3, 23));
    for (const bool weighted : {false, true}) {
        for (const std::int32_t k : {7, 16, 40}) {
            SCOPED_TRACE(k);
            expect_right(graph, {-1, 0.0F, -0.0F}, weighted, k);
            expect_right(graph, {-kInfinity, -kInfinity, -kInfinity, -2}, weighted, k);
            expect_right(graph, {-kInfinity, 1, 2, kInfinity}, weighted, k);
            expect_right(graph, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, kNan}, weighted, k);
            expect_right(graph, {kNan}, weighted, k);
        }
    }
}

}  // namespace
}  // namespace gnntune::spmm_max_gpu_test
