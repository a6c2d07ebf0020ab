// A graph on the backend, and a problem on it with inputs, output and oracle: what the tuner runs configs against.
#pragma once

#include <memory>

#include "core/dispatch/plan.hpp"
#include "core/graph/graph.hpp"
#include "core/reference/oracle.hpp"
#include "tuner/array.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/stream.hpp"
#include "core/reference/compare_gpu.hpp"
#endif

namespace gnntune::tuner {

/// A host graph and its copy on the backend, handed to the library as CSR.
class GraphWorkload {
public:
    GraphWorkload(const Registry& registry, const Device& device, CsrGraph graph);

    const CsrGraph& host() const { return host_; }
    /// The reversed graph as CSR with `edge_id` leading back to the forward order; built at first use.
    const CscGraph& host_reversed();
    Graph& graph() { return *graph_; }
    const Device& device() const { return graph_->device(); }
    StreamHandle stream() const;
    /// Waits until the backend has finished everything that was enqueued.
    void synchronise() const;

private:
    CsrGraph host_;
    std::unique_ptr<CscGraph> reversed_;
    Array row_ptr_;
    Array col_idx_;
    std::unique_ptr<Graph> graph_;
#if GNNTUNE_WITH_CUDA
    std::unique_ptr<CudaStream> stream_;
#endif
};

/// Operands, output and oracle of one problem. Features are uniform in (-1, 1); edge weights are the graph's own, or
/// uniform in (-1, 1) where it has none. Both depend on `seed` alone.
class ProblemWorkload {
public:
    ProblemWorkload(GraphWorkload& graph, const Problem& problem, std::uint64_t seed);

    const Problem& problem() const { return problem_; }
    GraphWorkload& graph() { return graph_; }
    Operands operands() const;

    /// Runs `plan` once on a poisoned output and compares the result with the oracle, which is computed at first use.
    reference::Comparison check(const Plan& plan);
    /// Workspace for any plan checked or run so far; grown outside of timing.
    void* workspace(std::size_t bytes);
    /// Enqueues one run on the graph's stream.
    void run(const Plan& plan) { plan.run(operands(), workspace(plan.workspace_bytes()), graph_.stream()); }

private:
    void make_oracle();

    GraphWorkload& graph_;
    Problem problem_;
    HostVector<float> host_x_;
    HostVector<float> host_x_row_;
    HostVector<float> host_weight_;
    Array x_;
    Array x_row_;
    Array weight_;
    Array y_;
    Array workspace_;
    std::size_t outputs_ = 0;
    std::unique_ptr<reference::Oracle> oracle_;
#if GNNTUNE_WITH_CUDA
    std::unique_ptr<reference::DeviceOracle> device_oracle_;
#endif
};

}  // namespace gnntune::tuner
