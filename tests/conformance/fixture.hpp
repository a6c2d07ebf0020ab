// What a config is checked on: one graph with its oracles and inputs, and the arrays of one problem between guard
// words.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "core/ops/inputs.hpp"
#include "core/ops/oracles.hpp"
#include "core/registry/graph.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/conformance/guarded.hpp"

namespace gnntune::conformance {

/// Slope, dropout, seed and scale of a run that the problem has in this suite.
Operands numbers_of(const Problem& p);

/// Everything of one graph that does not depend on the config: host arrays, and the graph on the backend.
class Fixture {
public:
    Fixture(const Registry& registry, const Device& device, const GraphCase& graph);

    Graph& graph() { return *graph_; }
    /// With numbers_of() the problem, or others.
    reference::Inputs inputs(const Problem& p, unsigned seed) const;
    reference::Inputs inputs(const Problem& p, unsigned seed, const Operands& numbers) const;
    /// The same with the first row of x infinite, the one in the middle not a number, and the weight of a row's first
    /// edge infinite.
    reference::Inputs infinite_inputs(const Problem& p, unsigned seed) const;
    reference::Inputs infinite_inputs(const Problem& p, unsigned seed, const Operands& numbers) const;
    /// Integers from -3 to 3, none of them 0, so that each edge counts in every feature: sums of 1.8 million products are
    /// exact in fp32, and products in every storage type.
    reference::Inputs integer_inputs(const Problem& p, unsigned seed) const;
    std::vector<reference::Oracle> oracles(const Problem& p, const reference::Inputs& in, const SampleRule* rule) const;

private:
    CsrView csr(const Problem& p) const;
    const std::int32_t* edge_id(const Problem& p) const;
    void upload(const Registry& registry, const Device& device);

    GraphCase case_;
    HostVector<std::int32_t> forward_id_;
    HostVector<std::int32_t> reversed_id_;
    CsrGraph forward_;
    CsrGraph reversed_;
    std::unique_ptr<Graph> graph_;
};

/// Arrays of one problem on the backend, shifted by `offset` elements from a 256-byte boundary. What is copied is copied
/// in the order of the stream.
struct Memory {
    Memory(Backend backend, StreamHandle stream, const Query& query, const reference::Inputs& in,
           std::size_t workspace_bytes, std::size_t offset);

    void set(const reference::Inputs& in);
    void poison(std::uint16_t pair);
    /// Brings what the device holds to where the questions below look, once the stream has been waited for: everything, or
    /// what results() says.
    void fetch();
    void fetch_results();
    std::vector<std::vector<std::uint8_t>> results() const;
    bool guards_intact() const;
    bool unchanged(const reference::Inputs& in) const;

    std::deque<GuardedBytes> inputs;
    std::deque<GuardedBytes> outputs;
    std::vector<std::size_t> element_bytes;  ///< of the outputs
    GuardedBytes workspace;
    Operands operands;
};

}  // namespace gnntune::conformance
