#include "core/registry/graph.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gcn_norm/common/gcn_norm.hpp"
#include "kernels/gcn_norm/rows/launch.hpp"

namespace gnntune {
namespace gcn_norm_rows {

const std::vector<ParamField<RowsParams>>& RowsParams::fields() {
    static const std::vector<ParamField<RowsParams>> kFields{
        {"kernels", &RowsParams::kernels, {1, 2}},
        {"lanes", &RowsParams::lanes, {4, 8, 32}},
    };
    return kFields;
}

Verdict RowsParams::legal(const Query& q, const RowsParams& p) {
    if (q.problem.weighted && p.kernels == 1) {
        return Verdict::no("a weighted degree is a sum over a row: one kernel would repeat it for every edge");
    }
    if (!q.problem.weighted && p.lanes != RowsParams{}.lanes) {
        return Verdict::no("unweighted degrees are differences of row pointers: lanes have nothing to sum");
    }
    return kernels::require_grid(kernels::ceil_div(q.n_rows, 256 / p.lanes));
}

RowsParams RowsParams::defaults(const Query& q) {
    RowsParams p;
    p.kernels = q.problem.weighted ? 2 : 1;
    return p;
}

namespace {

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                                         from_params<RowsParams>(c.params), p.weighted, p.dtype,
                                         std::max(1, c.graph.device().multiprocessors)});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return s.params.kernels == 2 ? static_cast<std::size_t>(s.graph->n_rows) * sizeof(float) : 0;
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    CostTerms terms = kernels::gcn_norm_cost(q, kernels::csr_bytes(q));
    if (from_params<RowsParams>(params).kernels == 1) terms.launches = 1;
    return terms;
}

}  // namespace
}  // namespace gcn_norm_rows

void register_gcn_norm_rows(Registry& registry) {
    Variant v;
    v.id = "gcn_norm.rows";
    v.summary = "degrees by rows of CSR, then weights by equal shares of the edges; unweighted in one kernel";
    v.op = Op::gcn_norm;
    v.backend = Backend::cuda;
    v.version = 2;  // the weights' blocks are resident all at once
    v.default_rank = 10;
    v.can = {.storage = kEveryStorage};
    kernels::set_typed_params<gcn_norm_rows::RowsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &gcn_norm_rows::prepare;
    v.workspace_bytes = &gcn_norm_rows::workspace_bytes;
    v.launch = &gcn_norm_rows::run;
    v.cost_terms = &gcn_norm_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
