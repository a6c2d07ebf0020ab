// edge_softmax.cpu_rows: y[e, h] = exp(edge_weight[e, h] - max) / sum, over the edges e of each row.
//
// Work     OpenMP threads take 64 rows at a time; three walks over a row and head: maximum, exponentials and their sum,
//          division. y holds the exponentials in between, so nothing else is stored.
// Order    every sum runs in edge order, in double: repeats bit for bit.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/attention.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace edge_softmax_cpu_rows {
namespace {

constexpr std::int32_t kBlock = 64;  ///< rows that a thread takes at once
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t heads;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream), p.heads});
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const CsrFormat& g = *s.csr;
    const auto place = [&](std::int32_t e, std::int32_t h) {
        return std::int64_t{g.edge_id ? g.edge_id[e] : e} * s.heads + h;
    };
    const auto row_head = [&](std::int32_t i, std::int32_t h) {
        const std::int32_t begin = g.row_ptr[i];
        const std::int32_t end = g.row_ptr[i + 1];
        float max = kMinusInfinity;
        for (std::int32_t e = begin; e < end; ++e) max = std::max(max, o.edge_weight[place(e, h)]);
        double sum = 0;
        for (std::int32_t e = begin; e < end; ++e) {
            const float logit = o.edge_weight[place(e, h)];
            const float term = logit == kMinusInfinity ? 0.0F : std::exp(logit - max);
            o.y[place(e, h)] = term;
            sum += term;
        }
        const float scale = max == kMinusInfinity ? 0.0F : static_cast<float>(1.0 / sum);
        for (std::int32_t e = begin; e < end; ++e) o.y[place(e, h)] *= scale;
    };
    kernels::on_team((g.m * kernels::kExpTerms + g.n_rows) * s.heads, [&](const kernels::Team& team) {
        team.for_row_blocks(g.n_rows, kBlock, [&](std::int32_t first, std::int32_t last) {
            for (std::int32_t i = first; i < last; ++i) {
                for (std::int32_t h = 0; h < s.heads; ++h) row_head(i, h);
            }
        });
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::edge_softmax_cost(q, kernels::csr_bytes(q), 3);
}

}  // namespace
}  // namespace edge_softmax_cpu_rows

void register_edge_softmax_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "edge_softmax.cpu_rows";
    v.summary = "OpenMP over rows, three walks over each";
    v.op = Op::edge_softmax;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = kernels::kEdgeSoftmaxInF32;
    v.applicable = &kernels::require_one_value;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &edge_softmax_cpu_rows::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &edge_softmax_cpu_rows::run;
    v.cost_terms = &edge_softmax_cpu_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
