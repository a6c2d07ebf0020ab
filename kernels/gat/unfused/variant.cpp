#include "kernels/common/typed_variant.hpp"
#include "kernels/gat/unfused/launch.hpp"

namespace gnntune {
namespace gat_unfused {
namespace {

struct Unfused {
    static std::vector<Part> parts(const Query& q) {
        Problem softmax = q.problem;
        softmax.op = Op::edge_softmax;
        softmax.k = 1;
        Problem spmm = q.problem;
        spmm.op = Op::spmm;
        spmm.heads = 1;
        spmm.weighted = true;
        return {{"edge_softmax", softmax}, {"spmm", spmm}};
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
    const double features = 4.0 * static_cast<double>(q.n_rows + q.n_cols) * q.problem.k * heads;
    CostTerms terms = kernels::gat_cost(q, heads * kernels::csr_bytes(q) + 2.0 * kernels::coo_bytes(q));
    terms.dram_bytes += 6.0 * values + (heads > 1 ? 2.0 * features : 0.0);
    terms.l2_bytes += 6.0 * values + (heads > 1 ? 2.0 * features : 0.0);
    terms.launches = 5.0 + heads + (heads > 1 ? 2.0 : 0.0);
    return terms;
}

}  // namespace
}  // namespace gat_unfused

void register_gat_unfused(Registry& registry) {
    Variant v;
    v.id = "gat.unfused";
    v.summary = "edge logits, edge_softmax, dropout, then spmm per head: any configs of those ops";
    v.op = Op::gat;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 60;
    v.can = kernels::kAttentionInF32;
    v.applicable = &kernels::require_unfused_gat;
    kernels::set_parts<gat_unfused::Unfused>(v);
    // As far as it is up to this variant: a plan asks its parts too.
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_coo;
    v.prepare = &kernels::prepare_unfused_gat<gat_unfused::Unfused>;
    v.workspace_bytes = &gat_unfused::bytes;
    v.launch = &gat_unfused::run;
    v.cost_terms = &gat_unfused::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
