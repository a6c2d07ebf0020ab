#include "kernels/agnn/unfused/launch.hpp"
#include "kernels/common/attention.hpp"
#include "kernels/common/cosine_params.hpp"
#include "kernels/common/head_major.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_unfused {
namespace {

Problem part_problem(const Query& q, Op op, std::int32_t k, bool weighted) {
    Problem p;
    p.op = op;
    p.k = k;
    p.weighted = weighted;
    p.direction = q.problem.direction;
    return p;
}

struct Unfused {
    static std::vector<Part> parts(const Query& q) {
        return {{"sddmm", part_problem(q, Op::sddmm, q.problem.k, false)},
                {"edge_softmax", part_problem(q, Op::edge_softmax, 1, false)},
                {"spmm", part_problem(q, Op::spmm, q.problem.k, true)}};
    }
};

struct TcGnn {
    static std::vector<Part> parts(const Query& q) {
        std::vector<Part> all = Unfused::parts(q);
        all[kSddmm].standard = "sddmm.tcgnn";
        all[kSpmm].standard = "spmm.tcgnn";
        return all;
    }
};

Verdict applicable(const Query& q) {
    Verdict verdict = kernels::require_attention(q);
    if (verdict) verdict = kernels::require_head_runs(q);
    return verdict ? kernels::require_team_grid(q, 256, 32) : verdict;
}

template <typename Parts>
std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return make_plan(c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                     kernels::make_part_plans<Parts>(c), p.k, p.heads, c.stream);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const double edge_values = 4.0 * static_cast<double>(q.m) * q.problem.heads;
    const double width = 4.0 * q.problem.k * q.problem.heads;
    CostTerms terms = kernels::gather_cost(q, 4.0 * kernels::csr_bytes(q) * q.problem.heads);
    terms.l2_bytes += 2.0 * static_cast<double>(q.m) * width + 7.0 * edge_values;
    terms.dram_bytes += terms.dram_bytes + 7.0 * edge_values;
    // Copies to one matrix per head and back.
    if (q.problem.heads > 1)
        terms.dram_bytes += (4.0 * static_cast<double>(q.n_rows) + 2.0 * static_cast<double>(q.n_cols)) * width;
    terms.flops *= 2.0;
    terms.launches = 3.0 + 3.0 * q.problem.heads + (q.problem.heads > 1 ? 3.0 : 0.0);
    return terms;
}

// What both records have in common.
template <typename Parts>
Variant record() {
    Variant v;
    v.op = Op::agnn;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.applicable = &applicable;
    kernels::set_parts<Parts>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &prepare<Parts>;
    v.workspace_bytes = &workspace;
    v.launch = &run;
    v.cost_terms = &cost_terms;
    return v;
}

}  // namespace
}  // namespace agnn_unfused

void register_agnn_unfused(Registry& registry) {
    using namespace agnn_unfused;
    Variant v = record<Unfused>();
    v.id = "agnn.unfused";
    v.summary = "composition: sddmm, logits, edge_softmax, weighted spmm";
    v.default_rank = 60;
    registry.add(v);

    v = record<TcGnn>();
    v.id = "agnn.tcgnn";
    v.summary = "composition on tensor cores: sddmm.tcgnn, logits, edge_softmax, spmm.tcgnn";
    v.precision = Precision::tf32;
    v.min_compute_capability = 80;
    registry.add(v);
}

}  // namespace gnntune
