#include "core/registry/graph.hpp"
#include "kernels/common/dense.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/sddmm/dense/launch.hpp"

namespace gnntune {
namespace sddmm_dense {
namespace {

Verdict applicable(const Query& q) {
    return kernels::require_dense(q, Precision::fp32);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& problem = c.query.problem;
    kernels::open_cublas();
    auto plan = std::make_shared<Plan>();
    plan->coo = c.graph.format_as<CooFormat>(kFormatCooSorted, problem.direction, c.stream);
    plan->k = problem.k;
    plan->weighted = problem.weighted;
    plan->cublas_bytes =
        kernels::cublas_workspace_bytes(c.query.n_rows * c.query.n_cols, c.query.device->compute_capability);
    return plan;
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

// The product writes every cell; each edge then reads one of them in a sector and writes its own result.
CostTerms cost_terms(const Query& q, const Params&) {
    const double m = static_cast<double>(q.m);
    const double row_bytes = 4.0 * q.problem.k;
    const double operands = (static_cast<double>(q.n_rows) + static_cast<double>(q.n_cols)) * row_bytes;
    const double array = kernels::dense_bytes(q);
    CostTerms terms = kernels::product_cost(static_cast<double>(q.n_rows), static_cast<double>(q.n_cols), q.problem.k,
                                            operands, array);
    const double edges = kernels::coo_bytes(q) + 4.0 * m;
    terms.dram_bytes += std::min(32.0 * m, array) + edges;
    terms.l2_bytes += 32.0 * m + edges;
    terms.launches = 2;
    return terms;
}

}  // namespace
}  // namespace sddmm_dense

void register_sddmm_dense(Registry& registry) {
    Variant v;
    v.id = "sddmm.dense";
    v.summary = "all rows with all columns by cuBLAS in fp32, then the edges' results: for small or dense graphs";
    v.op = Op::sddmm;
    v.backend = Backend::cuda;
    v.applicable = &sddmm_dense::applicable;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_coo_sorted;
    v.prepare = &sddmm_dense::prepare;
    v.workspace_bytes = &sddmm_dense::workspace;
    v.launch = &sddmm_dense::run;
    v.cost_terms = &sddmm_dense::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
