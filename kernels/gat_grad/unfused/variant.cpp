#include "kernels/common/typed_variant.hpp"
#include "kernels/gat_grad/unfused/launch.hpp"

namespace gnntune {
namespace gat_grad_unfused {
namespace {

struct Unfused {
    /// The sums over rows and columns of the scores' gradients are spmm with a single feature, 1.
    static std::vector<Part> parts(const Query& q) {
        Problem sddmm = q.problem;
        sddmm.op = Op::sddmm;
        sddmm.heads = 1;
        Problem row_sum = sddmm;
        row_sum.op = Op::spmm;
        row_sum.weighted = true;
        Problem spmm = row_sum;
        spmm.direction = opposite(q.problem.direction);
        row_sum.k = 1;
        Problem col_sum = row_sum;
        col_sum.direction = spmm.direction;
        return {{"spmm", spmm}, {"sddmm", sddmm}, {"row_sum", row_sum}, {"col_sum", col_sum}};
    }
};

std::size_t bytes(const void* state) {
    return workspace_bytes(*static_cast<const State*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const double heads = q.problem.heads;
    const double values = 4.0 * static_cast<double>(q.m) * heads;
    const double features = 4.0 * static_cast<double>(q.n_rows + 2 * q.n_cols) * q.problem.k * heads;
    CostTerms terms = kernels::gat_grad_cost(q, 4.0 * heads * kernels::csr_bytes(q) + 2.0 * kernels::coo_bytes(q));
    terms.dram_bytes += 4.0 * values + (heads > 1 ? 2.0 * features : 0.0);
    terms.l2_bytes += 4.0 * values + (heads > 1 ? 2.0 * features : 0.0);
    terms.launches = 4.0 + 4.0 * heads + (heads > 1 ? 5.0 : 0.0);
    return terms;
}

}  // namespace
}  // namespace gat_grad_unfused

void register_gat_grad_unfused(Registry& registry) {
    Variant v;
    v.id = "gat_grad.unfused";
    v.version = 3;  // edges of logit -infinity have no gradient
    v.summary =
        "spmm in the opposite direction and sddmm per head, softmax backward, sums by spmm: any configs of those ops";
    v.op = Op::gat_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 60;
    v.applicable = &kernels::require_unfused_gat;
    kernels::set_parts<gat_grad_unfused::Unfused>(v);
    // As far as it is up to this variant: a plan asks its parts too.
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &kernels::prepare_unfused_gat<gat_grad_unfused::Unfused>;
    v.workspace_bytes = &gat_grad_unfused::bytes;
    v.launch = &gat_grad_unfused::run;
    v.cost_terms = &gat_grad_unfused::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
