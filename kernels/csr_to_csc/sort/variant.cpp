// csr_to_csc.sort: the edges of a CSR graph grouped by column by a stable radix sort (kernels/formats/csr/convert.cuh).
// Written out as a list with its ends exchanged, CSC is the CSR of that list; the list lives in the workspace.
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune {
namespace csr_to_csc_sort {
namespace {

using State = kernels::ConversionState<CsrFormat>;

CooFormat exchanged(const CsrFormat& csr, const std::int32_t* rows) {
    return {csr.n_cols, csr.n_rows, csr.m, csr.col_idx, rows, csr.edge_id, nullptr};
}

std::size_t rows_bytes(const CsrFormat& csr) {
    return formats::aligned_bytes(static_cast<std::size_t>(csr.m) * sizeof(std::int32_t));
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    return std::make_shared<State>(
        State{csr, rows_bytes(*csr) + formats::group_by_row_bytes(exchanged(*csr, nullptr))});
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    auto* rows = static_cast<std::int32_t*>(workspace);
    const std::size_t used = rows_bytes(*s.graph);
    formats::expand_rows(*s.graph, rows, stream);
    formats::group_by_row(exchanged(*s.graph, rows), {o.out_ptr, o.out_idx, o.out_edge_id},
                          static_cast<unsigned char*>(workspace) + used, s.workspace_bytes - used, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = formats::group_by_row_cost(q.m, q.n_cols);
    terms.dram_bytes += 4.0 * static_cast<double>(q.m) + 4.0 * (static_cast<double>(q.n_rows) + 1);
    terms.launches += 1;
    return terms;
}

}  // namespace
}  // namespace csr_to_csc_sort

void register_csr_to_csc_sort(Registry& registry) {
    Variant v = kernels::conversion_variant<CsrFormat>(Op::csr_to_csc, Backend::cuda);
    v.id = "csr_to_csc.sort";
    v.summary = "rows written out, stable radix sort of (column, position), one gather, offsets by binary search";
    v.prepare = &csr_to_csc_sort::prepare;
    v.launch = &csr_to_csc_sort::run;
    v.cost_terms = &csr_to_csc_sort::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
