// example_degree.cpu: y_self[i] = sum over edges e of row i of w_e, one thread, in edge order.
#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace example_degree_cpu {
namespace {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    bool weighted;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream), p.weighted});
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        float sum = 0;
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            sum += s.weighted ? o.edge_weight[g.edge_id ? g.edge_id[e] : e] : 1.0F;
        }
        o.y_self[i] = sum;
    }
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms;
    terms.dram_bytes = kernels::csr_bytes(q);
    return terms;
}

}  // namespace
}  // namespace example_degree_cpu

void register_example_degree_cpu(Registry& registry) {
    Variant v;
    v.id = "example_degree.cpu";
    v.summary = "one thread, one row after another";
    v.op = Op::example_degree;
    v.backend = Backend::cpu;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &example_degree_cpu::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &example_degree_cpu::run;
    v.cost_terms = &example_degree_cpu::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
