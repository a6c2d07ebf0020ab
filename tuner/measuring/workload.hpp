// A graph on the backend, and a problem on it with inputs, output and oracle: what the tuner runs configs against.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/dispatch/plan.hpp"
#include "core/ops/inputs.hpp"
#include "core/registry/graph.hpp"
#include "tuner/measuring/array.hpp"

namespace gnntune {
class CudaStream;
}
namespace gnntune::reference {
class DeviceOracle;
}

namespace gnntune::tuner {

/// A host graph and its copy on the backend, handed to the library as CSR.
class GraphWorkload {
public:
    GraphWorkload(const Registry& registry, const Device& device, CsrGraph graph);
    /// On arrays of the backend that are there already: `graph` was made from them as CSR, `host` is the same graph in
    /// host memory. The device of the graph has to be current.
    GraphWorkload(std::unique_ptr<Graph> graph, CsrGraph host);

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
    std::shared_ptr<CudaStream> stream_;  ///< of graphs in device memory
};

/// Operands, outputs and oracles of one problem. Values are uniform in (-1, 1), logits in (-4, 4); edge weights are the
/// graph's own where it has any, each for all heads, and the op and the dtype take them (gcn_norm none below zero). All
/// depend on `seed` alone.
class ProblemWorkload {
public:
    /// Throws ErrorKind::out_of_memory where host memory cannot hold it.
    ProblemWorkload(GraphWorkload& graph, const Problem& problem, std::uint64_t seed);

    const Problem& problem() const { return problem_; }
    /// What the graph answered about the problem, for whoever decides about configs of it.
    const Query& query() const { return query_; }
    GraphWorkload& graph() { return graph_; }
    const Operands& operands() const { return operands_; }

    /// Runs `plan` once on poisoned outputs and compares them with the oracles, which are computed at first use. Over
    /// several outputs the worst counts. A sampling variant passes by the oracle of its own sample; its errors are
    /// those against the exact result.
    reference::Comparison check(const Plan& plan);
    /// Computes what check() compares with, so that memory runs out here and not in the first config. Throws for
    /// nothing else.
    void prepare_oracles();
    /// Workspace for any plan checked or run so far; grown outside of timing.
    void* workspace(std::size_t bytes);
    /// Enqueues one run on the graph's stream.
    void run(const Plan& plan) { plan.run(operands_, workspace(plan.workspace_bytes()), graph_.stream()); }

private:
    /// What the outputs have to be: of the op itself, or of the op on a sample.
    struct Expected {
        std::optional<SampleRule> rule;
        std::vector<reference::Oracle> oracles;  ///< empty ones where the device holds them
        std::vector<std::shared_ptr<const reference::DeviceOracle>> on_device;
    };

    const Expected& expected(const std::optional<SampleRule>& rule);
    reference::Comparison compare(const Expected& e, Precision precision) const;

    GraphWorkload& graph_;
    Problem problem_;
    Query query_;
    CsrView csr_;
    const std::int32_t* edge_id_ = nullptr;
    reference::Inputs inputs_;
    std::vector<Array> memory_;  // inputs, then outputs
    std::vector<std::size_t> outputs_;
    Operands operands_;
    Array workspace_;
    std::vector<Expected> expected_;  // the exact one first
};

}  // namespace gnntune::tuner
