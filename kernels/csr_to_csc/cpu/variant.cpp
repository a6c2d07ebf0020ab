// csr_to_csc.cpu: the edges of a CSR graph grouped by column by a stable parallel counting sort
// (core/graph/counting_sort.hpp), their rows written out before.
#include "core/graph/convert.hpp"
#include "core/graph/counting_sort.hpp"
#include "kernels/common/conversion.hpp"

namespace gnntune {
namespace csr_to_csc_cpu {
namespace {

using State = kernels::ConversionState<CsrFormat>;

/// The rows' part of the workspace, a multiple of 8 bytes.
std::size_t rows_bytes(const CsrFormat& csr) {
    return static_cast<std::size_t>(csr.m + 1) / 2 * 8;
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    return std::make_shared<State>(State{csr, rows_bytes(*csr) + counting_sort_bytes(csr->n_cols, csr->m)});
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const CsrFormat& g = *static_cast<const State*>(state)->graph;
    auto* rows = static_cast<std::int32_t*>(workspace);
    expand_rows({g.n_rows, g.n_cols, g.m, g.row_ptr, g.col_idx, nullptr, MemorySpace::host}, rows);
    counting_sort(g.col_idx, g.n_cols, g.m, o.out_ptr, static_cast<unsigned char*>(workspace) + rows_bytes(g),
                  [rows, id = g.edge_id, idx = o.out_idx, edge_id = o.out_edge_id](std::int32_t p, std::int64_t e) {
                      idx[p] = rows[e];
                      edge_id[p] = id ? id[e] : static_cast<std::int32_t>(e);
                  });
}

// Rows written and read; a list in buckets written and read, 8 bytes an edge; columns read a second time.
CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::conversion_cost(q, 28.0);
}

}  // namespace
}  // namespace csr_to_csc_cpu

void register_csr_to_csc_cpu(Registry& registry) {
    Variant v = kernels::conversion_variant<CsrFormat>(Op::csr_to_csc, Backend::cpu);
    v.id = "csr_to_csc.cpu";
    v.summary = "OpenMP counting sort by column, stable, in two passes through buckets of columns";
    v.prepare = &csr_to_csc_cpu::prepare;
    v.launch = &csr_to_csc_cpu::run;
    v.cost_terms = &csr_to_csc_cpu::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
