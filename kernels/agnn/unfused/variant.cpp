#include "kernels/agnn/unfused/launch.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/common/unfused_attention.hpp"

namespace gnntune {
namespace agnn_unfused {
namespace {

using kernels::UnfusedAttention;

struct TcGnn {
    static std::vector<Part> parts(const Query& q) {
        std::vector<Part> all = UnfusedAttention::parts(q);
        all[UnfusedAttention::kSddmm].standard = "sddmm.tcgnn";
        all[UnfusedAttention::kSpmm].standard = "spmm.tcgnn";
        return all;
    }
};

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
    return UnfusedAttention::cost(q, 1.0, 3.0);
}

// What both records have in common.
template <typename Parts>
Variant record() {
    Variant v;
    v.op = Op::agnn;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.can = kernels::kAttentionInF32;
    v.applicable = &UnfusedAttention::applicable;
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
    Variant v = record<kernels::UnfusedAttention>();
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
