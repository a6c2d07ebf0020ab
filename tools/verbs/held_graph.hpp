// A graph on the device, with its row for the store.
#pragma once

#include <memory>

#include "tools/common/graphs.hpp"
#include "tools/verbs/graph_outcome.hpp"
#include "tuner/measuring/workload.hpp"

namespace gnntune::tools {

struct HeldGraph {
    GraphRecord record;
    tuner::GraphWorkload workload;
};

/// Takes the arrays to the device and finds what its row needs: the graph is not copied on the host.
std::unique_ptr<HeldGraph> held_graph(InputGraph&& input, const Device& device);

/// Reads one of `of` graphs. Null where it cannot be used: the outcome counts it, and stderr says why.
std::unique_ptr<HeldGraph> hold_graph(const GraphArgument& argument, std::size_t of, const Device& device,
                                      GraphOutcome& outcome, Output& out);

}  // namespace gnntune::tools
