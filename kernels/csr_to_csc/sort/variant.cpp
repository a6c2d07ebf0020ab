// csr_to_csc.sort: the edges of a CSR graph grouped by column by a stable radix sort (kernels/formats/csr/convert.cuh).
// As a list with its ends exchanged, CSC is the CSR of that list; where row and column do not fit one key of 64 bits the
// list lives in the workspace.
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune {
namespace csr_to_csc_sort {
namespace {

using State = kernels::ConversionState<CsrFormat>;

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    return std::make_shared<State>(State{csr, formats::group_by_column_bytes(*csr)});
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    formats::group_by_column(*s.graph, {o.out_ptr, o.out_idx, o.out_edge_id}, workspace, s.workspace_bytes, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    return formats::group_by_column_cost(q.m, q.n_rows, q.n_cols);
}

}  // namespace
}  // namespace csr_to_csc_sort

void register_csr_to_csc_sort(Registry& registry) {
    Variant v = kernels::conversion_variant<CsrFormat>(Op::csr_to_csc, Backend::cuda);
    v.id = "csr_to_csc.sort";
    v.version = 2;  // column, row and place in the caller's order in one number: nothing is gathered after the sort
    v.summary =
        "stable radix sort by column of (column, row, position) in 64 bits, taken apart with the offsets in one pass";
    v.prepare = &csr_to_csc_sort::prepare;
    v.launch = &csr_to_csc_sort::run;
    v.cost_terms = &csr_to_csc_sort::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
