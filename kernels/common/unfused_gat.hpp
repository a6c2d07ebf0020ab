// What the host side of the compositions gat.unfused and gat_grad.unfused shares: kernels with a thread for each edge
// and head around parts that know no heads.
#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/attention.hpp"
#include "kernels/common/composition.hpp"
#include "kernels/common/head_major.hpp"

namespace gnntune::kernels {

struct UnfusedGatState {
    std::shared_ptr<const CooFormat> coo;
    PartPlans parts;
    std::int32_t k;
    std::int32_t heads;
};

inline Verdict require_unfused_gat(const Query& q) {
    const Verdict grid = require_grid(ceil_div(q.m * q.problem.heads, 256));
    return grid ? require_head_runs(q) : grid;
}

/// prepare() of the composition C.
template <typename C>
std::shared_ptr<const void> prepare_unfused_gat(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<UnfusedGatState>(UnfusedGatState{
        c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream), make_part_plans<C>(c), p.k, p.heads});
}

}  // namespace gnntune::kernels
