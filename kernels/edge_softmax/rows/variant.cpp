#include <algorithm>

#include "kernels/common/typed_variant.hpp"
#include "kernels/edge_softmax/rows/launch.hpp"

namespace gnntune {
namespace edge_softmax_rows {
namespace {

struct RowsParams {
    int team = 8;  ///< threads per row and head

    /// Rows of more edges are blocks' work: a thread of a team has at most 16 edges, one after the other.
    std::int32_t long_row() const { return std::min(kernels::kLongRow, 16 * team); }

    static const std::vector<ParamField<RowsParams>>& fields() {
        static const std::vector<ParamField<RowsParams>> kFields{{"team", &RowsParams::team, {2, 4, 8, 16, 32}}};
        return kFields;
    }
    static Verdict legal(const Query& q, const RowsParams& p) {
        return kernels::require_grid(kernels::ceil_div(q.n_rows * q.problem.heads, 128 / p.team) +
                                     (2 * q.m / p.long_row() + 1) * q.problem.heads);
    }
    // Four values a thread are kept in registers: the average row should fit.
    static RowsParams defaults(const Query& q) {
        const std::int64_t degree = q.n_rows > 0 ? q.m / q.n_rows : 0;
        RowsParams p;
        p.team = degree > 48 ? 32 : degree > 16 ? 16 : degree > 6 ? 8 : 4;
        return p;
    }
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    const auto params = from_params<RowsParams>(c.params);
    auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    auto pieces = kernels::build_row_pieces(c.graph, *csr, c.stream, params.long_row());
    return std::make_shared<State>(State{std::move(csr), std::move(pieces), params.team, p.heads, p.dtype});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::piece_results_bytes(s.pieces.slots, s.heads, 0);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::edge_softmax_cost(q, 4.0 * (static_cast<double>(q.n_rows) + 1), 1);
}

}  // namespace
}  // namespace edge_softmax_rows

void register_edge_softmax_rows(Registry& registry) {
    Variant v;
    v.id = "edge_softmax.rows";
    v.summary = "one kernel: a team of threads per row and head, values in registers, long rows in pieces";
    v.op = Op::edge_softmax;
    v.backend = Backend::cuda;
    v.version = 3;  // rows of up to 2048 edges are read once
    v.default_rank = 10;
    v.can = kernels::kEdgeSoftmax;
    v.applicable = &kernels::require_one_value;
    kernels::set_typed_params<edge_softmax_rows::RowsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &edge_softmax_rows::prepare;
    v.workspace_bytes = &edge_softmax_rows::workspace_bytes;
    v.launch = &edge_softmax_rows::run;
    v.cost_terms = &edge_softmax_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
