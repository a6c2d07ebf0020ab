#include "kernels/common/composition.hpp"
#include "kernels/common/spmm_grad.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/spmm_grad/two_pass/launch.hpp"

namespace gnntune {
namespace spmm_grad_two_pass {
namespace {

struct TwoPass {
    /// The spmm in the opposite direction. It runs on the column graph, forward: that is the same matrix.
    static std::vector<Part> parts(const Query& q) {
        Problem spmm = q.problem;
        spmm.op = Op::spmm;
        spmm.direction = opposite(q.problem.direction);
        return {{"spmm", spmm}};
    }
};

Verdict applicable(const Query& q) {
    if (!q.problem.weighted) return Verdict::no("without weights there is one pass: spmm in the opposite direction");
    return kernels::require_sum_with_self_loops(q);
}

std::vector<std::string_view> needed_formats(const Params&) {
    return {kFormatCoo, formats::kFormatColumnGraph};
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    auto state = std::make_shared<State>();
    state->coo = c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream);
    state->columns = c.graph.format_as<formats::ColumnGraph>(formats::kFormatColumnGraph, p.direction, c.stream);
    const Part part = TwoPass::parts(c.query).front();
    Problem inner = part.problem;
    inner.direction = Direction::forward;
    state->spmm =
        std::make_unique<const Plan>(*state->columns->graph, inner, part_config(c.graph, c.params, part), c.stream);
    state->k = p.k;
    const auto bytes = static_cast<std::size_t>(state->coo->m) * size_of(p.dtype);
    state->weight_bytes = state->columns->place.size() > 0 ? kernels::align_workspace(bytes) : 0;
    state->self_loop = p.self_loop;
    state->dtype = p.dtype;
    return state;
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return s.weight_bytes + s.spmm->workspace_bytes();
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    void* placed = s.weight_bytes > 0 ? workspace : nullptr;
    launch_dots(s, o, placed, stream);
    Operands spmm;
    spmm.x = o.grad_y;
    spmm.edge_weight = placed ? static_cast<const float*>(placed) : o.edge_weight;
    spmm.self_weight = o.self_weight;
    spmm.y = o.grad_x;
    s.spmm->run(spmm, static_cast<char*>(workspace) + s.weight_bytes, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const auto element = static_cast<double>(size_of(q.problem.dtype));
    const auto m = static_cast<double>(q.m);
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q));
    const CostTerms dots = kernels::gather_cost(q, kernels::coo_bytes(q) + element * m);
    terms.dram_bytes += dots.dram_bytes;
    terms.l2_bytes += dots.l2_bytes + element * m * q.problem.k;
    // Weights on their way: a place and a weight read, a sector of 32 bytes written for each.
    terms.dram_bytes += (4.0 + 3.0 * element) * m;
    terms.l2_bytes += (36.0 + element) * m;
    terms.launches = q.problem.self_loop ? 3 : 2;
    return terms;
}

}  // namespace
}  // namespace spmm_grad_two_pass

void register_spmm_grad_two_pass(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.two_pass";
    v.summary = "dot products of edges that also put weights in the order of columns, then an spmm that reads them so";
    v.op = Op::spmm_grad;
    v.backend = Backend::cuda;
    v.operand_alignment = 16;
    v.default_rank = 8;
    v.applicable = &spmm_grad_two_pass::applicable;
    kernels::set_parts<spmm_grad_two_pass::TwoPass>(v);
    // As far as it is up to this variant: a plan asks its part too.
    v.deterministic = &kernels::always_deterministic;
    v.formats = &spmm_grad_two_pass::needed_formats;
    v.prepare = &spmm_grad_two_pass::prepare;
    v.workspace_bytes = &spmm_grad_two_pass::workspace_bytes;
    v.launch = &spmm_grad_two_pass::run;
    v.cost_terms = &spmm_grad_two_pass::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
