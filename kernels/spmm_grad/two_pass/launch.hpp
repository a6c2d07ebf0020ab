#pragma once

#include <memory>

#include "core/dispatch/plan.hpp"
#include "core/graph/formats.hpp"
#include "kernels/formats/column_graph/column_graph.hpp"

namespace gnntune::spmm_grad_two_pass {

struct State {
    std::shared_ptr<const CooFormat> coo;
    std::shared_ptr<const formats::ColumnGraph> columns;
    std::unique_ptr<const Plan> spmm;  ///< on the column graph
    std::int32_t k;
    std::size_t weight_bytes;  ///< of the workspace, before the plan's own; 0: weights are in the column graph's order
    bool self_loop;
    DType dtype;
};

/// Enqueues the first pass: grad_edge_weight, grad_self_weight where there are self loops, and the weights in the column
/// graph's order into `placed` [m], if it is not null. Device that is current. Throws on a launch error.
void launch_dots(const State& state, const Operands& operands, void* placed, StreamHandle stream);

}  // namespace gnntune::spmm_grad_two_pass
