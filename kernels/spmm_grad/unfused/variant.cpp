#include "kernels/common/composition.hpp"
#include "kernels/common/spmm_grad.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm_grad/unfused/launch.hpp"

namespace gnntune {
namespace spmm_grad_unfused {
namespace {

/// Places of the parts.
enum PartIndex : std::size_t { kSpmm, kSddmm };

struct Unfused {
    /// spmm, and sddmm where weights have a gradient. Self loops are left to neither: few variants know them.
    static std::vector<Part> parts(const Query& q) {
        Problem spmm = q.problem;
        spmm.op = Op::spmm;
        spmm.direction = opposite(q.problem.direction);
        spmm.self_loop = false;
        std::vector<Part> out{{"spmm", spmm}};
        if (q.problem.weighted) {
            Problem sddmm = q.problem;
            sddmm.op = Op::sddmm;
            sddmm.weighted = false;
            sddmm.self_loop = false;
            out.push_back({"sddmm", sddmm});
        }
        return out;
    }
};

struct State {
    kernels::PartPlans parts;
    std::int64_t n;  ///< self loops
    std::int32_t k;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    auto state = std::make_shared<State>();
    state->parts = kernels::make_part_plans<Unfused>(c);
    state->n = c.query.problem.self_loop ? c.query.n_rows : 0;
    state->k = c.query.problem.k;
    return state;
}

std::size_t workspace_bytes(const void* state) { return static_cast<const State*>(state)->parts.workspace_bytes; }

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    Operands spmm;
    spmm.x = o.grad_y;
    spmm.edge_weight = o.edge_weight;
    spmm.y = o.grad_x;
    s.parts[kSpmm].run(spmm, workspace, stream);
    if (s.parts.plans.size() > kSddmm) {
        Operands sddmm;
        sddmm.x_row = o.grad_y;
        sddmm.x = o.x;
        sddmm.y = o.grad_edge_weight;
        s.parts[kSddmm].run(sddmm, workspace, stream);
    }
    if (s.n > 0) launch_self_loops(s.n, s.k, o, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q));
    if (q.problem.weighted) {
        // The second part reads the graph and gathers for itself.
        const CostTerms second = kernels::gather_cost(q, kernels::csr_bytes(q));
        terms.dram_bytes += second.dram_bytes;
        terms.l2_bytes += second.l2_bytes;
        terms.launches += 1;
    }
    if (q.problem.self_loop) {
        const double rows = 4.0 * static_cast<double>(q.n_rows) * q.problem.k;
        terms.dram_bytes += 4.0 * rows;
        terms.l2_bytes += 4.0 * rows;
        terms.launches += 1;
    }
    return terms;
}

}  // namespace
}  // namespace spmm_grad_unfused

void register_spmm_grad_unfused(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.unfused";
    v.summary = "spmm in the opposite direction, then sddmm: any two configs of those ops";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 10;
    v.applicable = &kernels::require_fp32_sum_with_self_loops;
    kernels::set_parts<spmm_grad_unfused::Unfused>(v);
    // As far as it is up to this variant: a plan asks its parts too.
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_no_format;
    v.prepare = &spmm_grad_unfused::prepare;
    v.workspace_bytes = &spmm_grad_unfused::workspace_bytes;
    v.launch = &spmm_grad_unfused::run;
    v.cost_terms = &spmm_grad_unfused::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
