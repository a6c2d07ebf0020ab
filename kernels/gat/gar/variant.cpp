#include "kernels/common/attention.hpp"
#include "kernels/common/block_params.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/gat/gar/launch.hpp"

namespace gnntune {
namespace gat_gar {
namespace {

std::vector<std::string_view> formats(const Params&) {
    return {kFormatCsr, kFormatCoo};
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                                         c.graph.format_as<CooFormat>(kFormatCoo, p.direction, c.stream),
                                         from_params<kernels::BlockParams>(c.params).block_size, p.k, p.heads});
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return kernels::edge_passes_bytes(s.csr->n_rows, s.csr->m, s.heads);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const State*>(state), operands, workspace, stream);
}

CostTerms cost_terms(const Query& q, const Params&) {
    const double values = 4.0 * static_cast<double>(q.m) * q.problem.heads;
    CostTerms terms = kernels::gat_cost(q, kernels::csr_bytes(q) + 3.0 * kernels::coo_bytes(q));
    terms.dram_bytes += 2.0 * values;
    terms.l2_bytes += 5.0 * values;
    terms.reduction_bytes = 2.0 * values;
    terms.launches = 6;
    return terms;
}

}  // namespace
}  // namespace gat_gar

void register_gat_gar(Registry& registry) {
    Variant v;
    v.id = "gat.gar";
    v.summary = "fuseGNN's GAT over CSR: edge-parallel softmax with atomics, gather-apply-reduce (Algorithm 3)";
    v.op = Op::gat;
    v.backend = Backend::cuda;
    v.default_rank = 80;
    v.can = kernels::kAttentionInF32;
    kernels::set_typed_params<kernels::BlockParams>(v);
    v.deterministic = &kernels::never_deterministic;
    v.formats = &gat_gar::formats;
    v.prepare = &gat_gar::prepare;
    v.workspace_bytes = &gat_gar::workspace_bytes;
    v.launch = &gat_gar::run;
    v.cost_terms = &gat_gar::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
