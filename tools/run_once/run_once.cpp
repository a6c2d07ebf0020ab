// gnntune_run_once GRAPH K DATABASE: one spmm through the dispatcher library, compared with the oracle.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <gnntune/gnntune.hpp>

#include "core/io/graph_io.hpp"
#include "core/ops/oracles.hpp"
#include "tuner/measuring/array.hpp"

namespace {

namespace api = gnntune::api;
using gnntune::Backend;
using gnntune::tuner::Array;

int run(const char* graph_path, std::int32_t k, const char* database) {
    const gnntune::CsrGraph host = gnntune::io::read_graph(graph_path).graph;
    api::Context context{std::string(database)};
    const Backend backend = context.backend() == GNNTUNE_BACKEND_CUDA ? Backend::cuda : Backend::cpu;
    const api::Graph graph =
        context.csr(host.n_rows, host.n_cols, host.m(), host.row_ptr.data(), host.col_idx.data(), GNNTUNE_HOST);
    const api::Plan plan = context.plan(graph, api::spmm(k).weighted());
    std::printf("%s", plan.explain().c_str());

    std::vector<float> x(static_cast<std::size_t>(host.n_cols) * static_cast<std::size_t>(k));
    std::vector<float> weight(static_cast<std::size_t>(host.m()));
    std::vector<float> y(static_cast<std::size_t>(host.n_rows) * static_cast<std::size_t>(k));
    std::srand(1);
    const auto random = [] { return 2.0F * static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) - 1.0F; };
    for (auto& v : x) v = random();
    for (auto& v : weight) v = random();
    const Array device_x(backend, x.data(), x.size() * sizeof(float));
    const Array device_weight(backend, weight.data(), weight.size() * sizeof(float));
    const Array device_y(backend, y.size() * sizeof(float));
    const Array workspace(backend, plan.workspace_bytes());
    plan.run(device_x.as<float>(), device_weight.as<float>(), device_y.as<float>(), workspace.data(),
             workspace.bytes());
    device_y.to_host(y.data());  // waits for the default stream, on which the run was enqueued

    gnntune::Problem problem;
    problem.k = k;
    problem.weighted = true;
    gnntune::Operands inputs;
    inputs.x = x.data();
    inputs.edge_weight = weight.data();
    const auto oracles = gnntune::reference::oracles(problem, host.view(), nullptr, inputs);
    const auto result = gnntune::reference::compare(oracles.front(), y.data(), gnntune::Precision::fp32);
    std::printf("ran %s once on %s: largest error %.2g of the element's scale, %s\n", plan.config().c_str(),
                backend == Backend::cuda ? "the GPU" : "the CPU", result.max_error, result.pass() ? "right" : "WRONG");
    return result.pass() ? 0 : 5;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: gnntune_run_once GRAPH K DATABASE\n");
        return 2;
    }
    try {
        return run(argv[1], std::atoi(argv[2]), argv[3]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gnntune_run_once: %s\n", e.what());
        return 1;
    }
}
