// coo_to_csr.cpu: the caller's list grouped by row by a stable parallel counting sort (core/graph/counting_sort.hpp).
#include "core/graph/counting_sort.hpp"
#include "kernels/common/conversion.hpp"

namespace gnntune {
namespace coo_to_csr_cpu {
namespace {

using State = kernels::ConversionState<CooFormat>;

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto coo = c.graph.format_as<CooFormat>(kFormatCoo, c.query.problem.direction, c.stream);
    return std::make_shared<State>(State{coo, counting_sort_bytes(coo->n_rows, coo->m)});
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const CooFormat& g = *static_cast<const State*>(state)->graph;
    counting_sort(
        g.row_idx, g.n_rows, g.m, o.out_ptr, workspace,
        [col = g.col_idx, id = g.edge_id, idx = o.out_idx, edge_id = o.out_edge_id](std::int32_t p, std::int64_t e) {
            idx[p] = col[e];
            edge_id[p] = id ? id[e] : static_cast<std::int32_t>(e);
        });
}

// A list in buckets on its way: written and read, 8 bytes an edge; rows are read a second time.
CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::conversion_cost(q, 20.0);
}

}  // namespace
}  // namespace coo_to_csr_cpu

void register_coo_to_csr_cpu(Registry& registry) {
    Variant v = kernels::conversion_variant<CooFormat>(Op::coo_to_csr, Backend::cpu);
    v.id = "coo_to_csr.cpu";
    v.summary = "OpenMP counting sort by row, stable, in two passes through buckets of rows";
    v.prepare = &coo_to_csr_cpu::prepare;
    v.launch = &coo_to_csr_cpu::run;
    v.cost_terms = &coo_to_csr_cpu::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
