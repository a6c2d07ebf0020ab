// coo_to_csr.scan: of a list that ascends by row, one launch writes offsets, columns and positions
// (kernels/formats/csr/convert.cuh). Whether it does is found out once, when the plan is made; other lists are sorted.
#include "kernels/common/conversion.hpp"
#include "kernels/formats/csr/convert.hpp"

namespace gnntune {
namespace coo_to_csr_scan {
namespace {

struct State : kernels::ConversionState<CooFormat> {
    bool sorted = false;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    State s;
    s.graph = c.graph.format_as<CooFormat>(kFormatCoo, c.query.problem.direction, c.stream);
    s.sorted = formats::is_sorted(*s.graph, c.stream);
    s.workspace_bytes = s.sorted ? 0 : formats::group_by_row_bytes(*s.graph);
    return std::make_shared<State>(std::move(s));
}

std::size_t workspace_bytes(const void* state) {
    return static_cast<const State*>(state)->workspace_bytes;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    const formats::GroupedEdges out{o.out_ptr, o.out_idx, o.out_edge_id};
    if (s.sorted) {
        formats::copy_sorted(*s.graph, out, stream);
    } else {
        formats::group_by_row(*s.graph, out, workspace, s.workspace_bytes, stream);
    }
}

// Those of a list in order, which is what the variant is for: the searches read few rows, and the columns are copied.
CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::conversion_cost(q, 0.0);
}

}  // namespace
}  // namespace coo_to_csr_scan

void register_coo_to_csr_scan(Registry& registry) {
    Variant v = kernels::conversion_variant<CooFormat>(Op::coo_to_csr, Backend::cuda);
    v.id = "coo_to_csr.scan";
    v.summary = "one launch for a list that ascends by row, looked at when the plan is made; else a radix sort";
    v.version = 2;  // lists that do not ascend are sorted as numbers that hold a whole edge
    v.default_rank = 5;
    v.prepare = &coo_to_csr_scan::prepare;
    v.workspace_bytes = &coo_to_csr_scan::workspace_bytes;
    v.launch = &coo_to_csr_scan::run;
    v.cost_terms = &coo_to_csr_scan::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
