// coo_to_csr.sort: the caller's list grouped by row by a stable radix sort (kernels/formats/csr/convert.cuh).
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune {
namespace coo_to_csr_sort {
namespace {

using State = kernels::ConversionState<CooFormat>;

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto coo = c.graph.format_as<CooFormat>(kFormatCoo, c.query.problem.direction, c.stream);
    return std::make_shared<State>(State{coo, formats::group_by_row_bytes(*coo)});
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    formats::group_by_row(*s.graph, {o.out_ptr, o.out_idx, o.out_edge_id}, workspace, s.workspace_bytes, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    return formats::group_by_row_cost(q.m, q.n_rows, q.n_cols);
}

}  // namespace
}  // namespace coo_to_csr_sort

void register_coo_to_csr_sort(Registry& registry) {
    Variant v = kernels::conversion_variant<CooFormat>(Op::coo_to_csr, Backend::cuda);
    v.id = "coo_to_csr.sort";
    v.version = 2;  // row, column and place in the caller's order in one number: nothing is gathered after the sort
    v.summary =
        "stable radix sort by row of (row, column, position) in 64 bits, taken apart with the offsets in one pass";
    v.prepare = &coo_to_csr_sort::prepare;
    v.launch = &coo_to_csr_sort::run;
    v.cost_terms = &coo_to_csr_sort::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
