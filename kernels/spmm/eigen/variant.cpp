// spmm.eigen: Eigen's sparse times dense product over the caller's arrays, mapped without copying: the library baseline
// of the CPU backend. Weights in another order than the format's are permuted into the workspace.
#include <Eigen/SparseCore>

#include "core/common/team.hpp"
#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace spmm_eigen {
namespace {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t k;
    bool weighted;
    std::vector<float> ones;  // values of an unweighted graph
};

bool permutes(const State& s) {
    return s.weighted && s.csr->edge_id;
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    auto state = std::make_shared<State>();
    state->csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    state->k = c.query.problem.k;
    state->weighted = c.query.problem.weighted;
    if (!state->weighted) state->ones.assign(static_cast<std::size_t>(state->csr->m), 1.0F);
    return state;
}

std::size_t workspace(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return permutes(s) ? static_cast<std::size_t>(s.csr->m) * sizeof(float) : 0;
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const float* values = s.weighted ? o.edge_weight : s.ones.data();
    if (permutes(s)) {
        auto* permuted = static_cast<float*>(workspace);
        for (std::int64_t e = 0; e < g.m; ++e) permuted[e] = o.edge_weight[g.edge_id[e]];
        values = permuted;
    }
    using Sparse = Eigen::SparseMatrix<float, Eigen::RowMajor, std::int32_t>;
    using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Sparse> a(g.n_rows, g.n_cols, g.m, g.row_ptr, g.col_idx, values);
    const Eigen::Map<const Dense> x(o.x, g.n_cols, s.k);
    Eigen::Map<Dense> y(o.y, g.n_rows, s.k);
    if (g.m > kTeamWork) reserve_team(team_size());  // Eigen starts a region of its own
    y.noalias() = a * x;
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gather_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace spmm_eigen

void register_spmm_eigen(Registry& registry) {
    Variant v;
    v.id = "spmm.eigen";
    v.summary = "Eigen's sparse times dense product";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    v.default_rank = 50;
    v.baseline = true;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &spmm_eigen::prepare;
    v.workspace_bytes = &spmm_eigen::workspace;
    v.launch = &spmm_eigen::run;
    v.cost_terms = &spmm_eigen::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
