// What a plan of kernels/common/attend.cuh holds: agnn.rows, attention.rows.
#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/common/tile_team.hpp"

namespace gnntune::kernels {

/// The graph, the pieces of its long rows, and the shape of the teams.
struct AttendPlan {
    std::shared_ptr<const CsrFormat> csr;
    RowPieces pieces;
    int lanes = 0;
    int split = 0;
    int items = 0;
    std::int32_t k = 0;
    std::int32_t heads = 0;
    DType dtype = DType::f32;

    /// Partial results of a run.
    std::int32_t slots() const { return pieces.slots; }
};

/// Cuts long rows into pieces: synchronises the context's stream. `params` has lanes, split and items.
template <typename Shape>
AttendPlan plan_attend(const PrepareContext& c, const Shape& params) {
    const Problem& p = c.query.problem;
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    RowPieces pieces = build_row_pieces(c.graph, *csr, c.stream);
    return {std::move(csr), std::move(pieces), params.lanes, params.split, params.items, p.k, p.heads, p.dtype};
}

}  // namespace gnntune::kernels
