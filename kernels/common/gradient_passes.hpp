// What a plan of kernels/common/gradient_passes.cuh holds: agnn_grad.rows_cols, attention_grad.rows_cols.
#pragma once

#include <algorithm>
#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/common/tile_team.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune::kernels {

/// One side of the graph and the shape of the teams.
struct PassPlan {
    std::shared_ptr<const CsrFormat> graph;
    RowPieces pieces;
    TileTeamParams team;
    std::int32_t k = 0;
    std::int32_t heads = 0;
    DType dtype = DType::f32;
};

/// A pass over rows, then one over columns. The state of a variant whose params are TileTeamParams.
struct TwoPassPlan {
    PassPlan rows;
    PassPlan columns;

    std::int64_t row_units() const { return std::int64_t{rows.graph->n_rows} * rows.heads; }

    /// Room for the partial results of the pieces of either pass, which have so many gradients of k features each. They
    /// are fp32 whatever the storage type.
    PieceResults take_results(int row_outputs, int col_outputs, WorkspaceCutter& space) const {
        const std::int64_t row_slots = std::int64_t{rows.pieces.slots} * rows.heads;
        const std::int64_t col_slots = std::int64_t{columns.pieces.slots} * columns.heads;
        auto* sums = space.take<SoftmaxSum>(std::max(row_slots, col_slots));
        return {sums, space.take<float>(std::max(row_slots * row_outputs, col_slots * col_outputs) * rows.k)};
    }
};

/// prepare() of a variant whose state is a TwoPassPlan. Cuts long rows and columns into pieces: synchronises the
/// context's stream.
inline std::shared_ptr<const void> prepare_two_passes(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto side = [&](std::string_view format) {
        auto graph = c.graph.format_as<CsrFormat>(format, p.direction, c.stream);
        RowPieces pieces = build_row_pieces(c.graph, *graph, c.stream);
        return PassPlan{std::move(graph), std::move(pieces), from_params<TileTeamParams>(c.params), p.k, p.heads,
                        p.dtype};
    };
    PassPlan rows = side(kFormatCsr);
    return std::make_shared<TwoPassPlan>(TwoPassPlan{std::move(rows), side(kFormatCsc)});
}

/// What the records of such variants have in common.
inline Variant two_pass_variant() {
    Variant v;
    v.summary = "a pass over rows, a pass over columns, nothing kept per edge, no atomics";
    v.backend = Backend::cuda;
    v.default_rank = 10;
    set_typed_params<TileTeamParams>(v);
    v.deterministic = &always_deterministic;
    v.formats = &needs_csr_and_csc;
    v.prepare = &prepare_two_passes;
    return v;
}

}  // namespace gnntune::kernels
