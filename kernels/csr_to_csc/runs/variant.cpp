// csr_to_csc.runs: the edges of a CSR graph grouped by column by a stable counting sort in two digits without offsets in
// between (kernels/formats/csr/runs.cuh).
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/runs.hpp"

namespace gnntune {
namespace csr_to_csc_runs {
namespace {

struct State : kernels::ConversionState<CsrFormat> {
    formats::RunParams params;
    bool chained = false;
};

Verdict applicable(const Query& q) {
    return formats::require_runs(q.device, q.m, q.n_cols, q.n_rows);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    State s;
    s.graph = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    s.chained = formats::runs_chained(c.graph.device());
    s.params = from_params<formats::RunParams>(c.params);
    s.workspace_bytes = formats::run_by_column_bytes(*s.graph, s.params);
    return std::make_shared<State>(std::move(s));
}

std::size_t workspace_bytes(const void* state) {
    return static_cast<const State*>(state)->workspace_bytes;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    formats::run_by_column(*s.graph, {o.out_ptr, o.out_idx, o.out_edge_id}, workspace, s.params, s.chained, stream);
}

CostTerms cost_terms(const Query& q, const Params& params) {
    CostTerms terms = formats::run_cost(q.m, q.n_cols, q.n_rows, from_params<formats::RunParams>(params), 0);
    const double offsets = 4.0 * (static_cast<double>(q.n_rows) + 1);
    terms.dram_bytes += offsets;
    terms.l2_bytes += offsets;
    return terms;
}

}  // namespace
}  // namespace csr_to_csc_runs

void register_csr_to_csc_runs(Registry& registry) {
    Variant v = kernels::conversion_variant<CsrFormat>(Op::csr_to_csc, Backend::cuda);
    v.id = "csr_to_csc.runs";
    v.summary = "stable counting sort by column in two digits: chunks split where they stand, then their runs gathered";
    v.default_rank = 8;
    v.can = kAnyKind;
    v.applicable = &csr_to_csc_runs::applicable;
    kernels::set_typed_params<formats::RunParams>(v);
    v.prepare = &csr_to_csc_runs::prepare;
    v.workspace_bytes = &csr_to_csc_runs::workspace_bytes;
    v.launch = &csr_to_csc_runs::run;
    v.cost_terms = &csr_to_csc_runs::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
