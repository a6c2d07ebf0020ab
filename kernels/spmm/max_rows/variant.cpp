#include <algorithm>

#include "kernels/common/tiles.hpp"
#include "kernels/spmm/max_rows/launch.hpp"

namespace gnntune {
namespace spmm_max_rows {

const std::vector<ParamField<MaxRowsParams>>& MaxRowsParams::fields() {
    static const std::vector<ParamField<MaxRowsParams>> kFields{
        {"block_size", &MaxRowsParams::block_size, {128, 256, 512}}};
    return kFields;
}

int MaxRowsParams::wide(std::int32_t k) const {
    return std::clamp(kernels::next_power_of_two(std::min(k, block_size)), 1, block_size);
}

Verdict MaxRowsParams::legal(const Query& q, const MaxRowsParams& p) {
    return kernels::require_grid(kernels::ceil_div(q.n_rows, p.rows(q.problem.k)));
}

namespace {

void run(const void* state, const Operands& operands, void*, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q));
    terms.dram_bytes += static_cast<double>(q.n_rows) * kernels::argmax_row_bytes(q);
    // A thread walks a row edge by edge.
    terms.threads = static_cast<double>(q.n_rows) * q.problem.k;
    for (const DegreeClass& c : kernels::row_classes(q)) {
        terms.longest = std::max(terms.longest, static_cast<double>(c.edges) / static_cast<double>(c.rows));
    }
    return terms;
}

}  // namespace
}  // namespace spmm_max_rows

void register_spmm_max_rows(Registry& registry) {
    Variant v;
    v.id = "spmm.max_rows";
    v.summary = "the maximum and its edges: a thread per row and feature, as frameworks write it";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.default_rank = 60;
    v.can = {.reduce = {Reduce::max}};
    kernels::set_typed_params<spmm_max_rows::MaxRowsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.in_stream_order = true;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<spmm_max_rows::MaxRowsParams, CsrFormat, kFormatCsr>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_max_rows::run;
    v.cost_terms = &spmm_max_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
