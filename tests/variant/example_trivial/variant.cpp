// spmm.example_trivial: y[i, :] = sum over edges e of row i of w_e x[col_e, :], one thread, in edge order.
#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace spmm_example_trivial {
namespace {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t k;
    bool weighted;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(
        State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream), p.k, p.weighted});
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        float* y = o.y + static_cast<std::int64_t>(i) * s.k;
        std::fill(y, y + s.k, 0.0F);
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const float w = s.weighted ? o.edge_weight[g.edge_id ? g.edge_id[e] : e] : 1.0F;
            const float* x = o.x + static_cast<std::int64_t>(g.col_idx[e]) * s.k;
            for (std::int32_t f = 0; f < s.k; ++f) y[f] += w * x[f];
        }
    }
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gather_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace spmm_example_trivial

void register_spmm_example_trivial(Registry& registry) {
    Variant v;
    v.id = "spmm.example_trivial";
    v.summary = "one thread, one row after another";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &spmm_example_trivial::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_example_trivial::run;
    v.cost_terms = &spmm_example_trivial::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
