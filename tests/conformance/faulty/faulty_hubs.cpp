// Rows are cut into pieces, and the edge at a join is lost, or counted twice: what a tolerance that grows with a row does
// not see. Rows of the small graphs have one piece.
#include <algorithm>
#include <vector>

#include "core/registry/graph.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"
#include "tests/conformance/faulty/faulty.hpp"

namespace gnntune::conformance {
namespace {

enum class Join { right, edge_lost, edge_twice };

/// Edges of a piece: one join in a row of 200,000 for fp32, whose tolerance sees four lost edges now and then; 48 in TF32,
/// whose tolerance sees hundreds.
constexpr std::int32_t piece_edges(Precision precision) {
    return precision == Precision::fp32 ? 1 << 17 : 1 << 12;
}

struct State {
    std::shared_ptr<const CsrFormat> csr;
    Problem problem;
};

std::int32_t caller_id(const CsrFormat& g, std::int32_t e) {
    return g.edge_id ? g.edge_id[e] : e;
}

template <Join J, Precision P>
void run_sums(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const std::int64_t k = s.problem.k;
    std::vector<float> sum(static_cast<std::size_t>(k));
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        float* y = o.y + i * k;
        std::fill(y, y + k, 0.0F);
        for (std::int32_t begin = g.row_ptr[i]; begin < g.row_ptr[i + 1]; begin += piece_edges(P)) {
            const bool joined = begin > g.row_ptr[i];
            const std::int32_t end = std::min(begin + piece_edges(P), g.row_ptr[i + 1]);
            std::fill(sum.begin(), sum.end(), 0.0F);
            for (std::int32_t e =
                     begin + (joined && J == Join::edge_lost ? 1 : 0) - (joined && J == Join::edge_twice ? 1 : 0);
                 e < end; ++e) {
                const float w = s.problem.weighted ? o.edge_weight[caller_id(g, e)] : 1.0F;
                const float* x = o.x + g.col_idx[e] * k;
                for (std::int64_t f = 0; f < k; ++f) sum[static_cast<std::size_t>(f)] += w * x[f];
            }
            for (std::int64_t f = 0; f < k; ++f) y[f] += sum[static_cast<std::size_t>(f)];
        }
    }
}

// The pieces are those of a source's edges: in a reversed problem the hub is one.
template <Join J>
void run_gradient(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const std::int64_t k = s.problem.k;
    std::vector<std::int32_t> met(static_cast<std::size_t>(g.n_cols));
    std::vector<double> sums(static_cast<std::size_t>(g.n_cols * k));  // the fault is the join alone
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const std::int32_t id = caller_id(g, e);
            const std::int64_t source = g.col_idx[e] * k;
            const bool at_join = met[static_cast<std::size_t>(g.col_idx[e])]++ == piece_edges(Precision::fp32);
            const float times = at_join && J == Join::edge_lost ? 0.0F : at_join && J == Join::edge_twice ? 2.0F : 1.0F;
            const float w = s.problem.weighted ? o.edge_weight[id] : 1.0F;
            float product = 0;
            for (std::int64_t f = 0; f < k; ++f) {
                sums[static_cast<std::size_t>(source + f)] += times * w * o.grad_y[i * k + f];
                product += o.x[source + f] * o.grad_y[i * k + f];
            }
            if (s.problem.weighted) o.grad_edge_weight[id] = product;
        }
    }
    for (std::size_t at = 0; at < sums.size(); ++at) o.grad_x[at] = static_cast<float>(sums[at]);
}

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return std::make_shared<State>(
        State{c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream), c.query.problem});
}

CostTerms no_terms(const Query&, const Params&) {
    return {};
}

FaultyVariant make(const char* id, const char* caught_by, Op op,
                   void (*launch)(const void*, const Operands&, void*, StreamHandle)) {
    Variant v;
    v.id = id;
    v.summary = "wrong on purpose";
    v.op = op;
    v.backend = Backend::cpu;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = launch;
    v.cost_terms = &no_terms;
    return {v, caught_by, true};
}

template <Join J>
FaultyVariant make_tf32(const char* id, const char* caught_by) {
    FaultyVariant faulty = make(id, caught_by, Op::spmm, &run_sums<J, Precision::tf32>);
    faulty.variant.precision = Precision::tf32;
    return faulty;
}

}  // namespace

std::vector<FaultyVariant> faulty_variants_on_hubs() {
    return {
        make("right_pieces", "", Op::spmm, &run_sums<Join::right, Precision::fp32>),
        make("edge_lost_at_a_join", "integers", Op::spmm, &run_sums<Join::edge_lost, Precision::fp32>),
        make("edge_twice_at_a_join", "integers", Op::spmm, &run_sums<Join::edge_twice, Precision::fp32>),
        make_tf32<Join::right>("right_pieces_tf32", ""),
        make_tf32<Join::edge_lost>("edge_lost_at_a_join_tf32", "integers"),
        make("right_gradient_pieces", "", Op::spmm_grad, &run_gradient<Join::right>),
        make("gradient_lost_at_a_join", "integers", Op::spmm_grad, &run_gradient<Join::edge_lost>),
        make("gradient_twice_at_a_join", "integers", Op::spmm_grad, &run_gradient<Join::edge_twice>),
    };
}

}  // namespace gnntune::conformance
