// coo_to_csr.runs: the caller's list grouped by row by a stable counting sort in two digits without offsets in
// between (kernels/formats/csr/runs.cuh).
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/runs.hpp"

namespace gnntune {
namespace coo_to_csr_runs {
namespace {

struct State : kernels::ConversionState<CooFormat> {
    formats::RunParams params;
    bool chained = false;
};

Verdict applicable(const Query& q) {
    return formats::require_runs(q.device, q.m, q.n_rows, q.n_cols);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    State s;
    s.graph = c.graph.format_as<CooFormat>(kFormatCoo, c.query.problem.direction, c.stream);
    s.chained = formats::runs_chained(c.graph.device());
    s.params = from_params<formats::RunParams>(c.params);
    s.workspace_bytes = formats::run_by_row_bytes(*s.graph, s.params);
    return std::make_shared<State>(std::move(s));
}

std::size_t workspace_bytes(const void* state) {
    return static_cast<const State*>(state)->workspace_bytes;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    formats::run_by_row(*s.graph, {o.out_ptr, o.out_idx, o.out_edge_id}, workspace, s.params, s.chained, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    return formats::run_cost(q.m, q.n_rows, q.n_cols, from_params<formats::RunParams>(params), 4);
}

}  // namespace
}  // namespace coo_to_csr_runs

void register_coo_to_csr_runs(Registry& registry) {
    Variant v = kernels::conversion_variant<CooFormat>(Op::coo_to_csr, Backend::cuda);
    v.id = "coo_to_csr.runs";
    v.summary = "stable counting sort by row in two digits: chunks split where they stand, then their runs gathered";
    v.default_rank = 8;
    v.can = kAnyKind;
    v.applicable = &coo_to_csr_runs::applicable;
    kernels::set_typed_params<formats::RunParams>(v);
    v.prepare = &coo_to_csr_runs::prepare;
    v.workspace_bytes = &coo_to_csr_runs::workspace_bytes;
    v.launch = &coo_to_csr_runs::run;
    v.cost_terms = &coo_to_csr_runs::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
