// Rows of many like terms, whose rounding errors add up: features that are all alike, as constant ones are.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "core/dispatch/plan.hpp"
#include "core/ops/spmm/oracle.hpp"
#include "core/registry/device.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

constexpr std::int32_t kK = 20;

/// One row of `degree` edges, to as many columns.
CsrGraph hub(std::int32_t degree) {
    CsrGraph g;
    g.n_rows = 1;
    g.n_cols = degree;
    g.row_ptr = {0, degree};
    g.col_idx.resize(static_cast<std::size_t>(degree));
    std::iota(g.col_idx.begin(), g.col_idx.end(), 0);
    return g;
}

/// How many times its tolerance a config's worst element is off.
double worst_ratio(const CsrGraph& csr, const std::string& config, const SampleRule* rule = nullptr) {
    Registry registry;
    register_all(registry);
    Graph graph(registry, cpu_device(), csr.view());
    Problem problem;
    problem.op = Op::spmm;
    problem.k = kK;
    const std::vector<float> x(static_cast<std::size_t>(csr.n_cols) * kK, 0.1F);
    std::vector<float> y(kK);
    Operands operands;
    operands.x = x.data();
    operands.y = y.data();
    const Plan plan(graph, problem, Config::parse(config), nullptr);
    std::vector<unsigned char> workspace(plan.workspace_bytes());
    plan.run(operands, workspace.data(), nullptr);
    const auto oracle = reference::spmm(problem, csr.view(), nullptr, operands, rule).front();
    return reference::compare(oracle, y.data(), Precision::fp32).worst_ratio;
}

TEST(LongRows, OfEqualTermsStayWithinTheirTolerance) {
    for (const std::int32_t degree : {kernels::kChain, kernels::kChain + 1, 2000, 20'000, 200'000}) {
        EXPECT_LT(worst_ratio(hub(degree), "spmm.cpu_rows{tile=16,row_block=16}"), 0.5) << degree;
    }
    // Parts of the edges: a row of many parts, a part of many edges, and both.
    for (const char* config : {"spmm.cpu_edges{parts=8}", "spmm.cpu_edges{parts=64}", "spmm.cpu_edges{parts=512}"}) {
        for (const std::int32_t degree : {500, 1000, 2000, 20'000, 200'000}) {
            EXPECT_LT(worst_ratio(hub(degree), config), 0.5) << config << ", " << degree;
        }
    }
    const SampleRule rule{SampleKind::fastrand, 1024};
    EXPECT_LT(
        worst_ratio(hub(1154), "spmm.cpu_sampled{sampling=fastrand,S=1024,prime=577,second_prime=0,rescale=0}", &rule),
        0.5);
}

}  // namespace
}  // namespace gnntune
