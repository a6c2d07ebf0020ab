// gat.cpu_rows: y[i, h, :] = sum over edges j->i of alpha~ x[j, h, :], alpha the softmax of
// leaky_relu(score_row[i, h] + score_col[j, h]); alpha~ = alpha / (1 - p) where dropout keeps the edge, else 0.
//
// Work     OpenMP threads take 64 rows at a time. Two walks over the edges of a row and head: the maximum; then
//          exponentials, their sum, and the weighted sum of feature rows, accumulated in y and divided at the end.
// Data     scores twice and one row of x per edge; nothing of the size of the edges is stored.
// Order    every sum runs in edge order: repeats bit for bit.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/attention.hpp"
#include "kernels/common/cpu_attention.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace gat_cpu_rows {
namespace {

constexpr std::int32_t kBlock = 64;  ///< rows that a thread takes at once
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t k;
    std::int32_t heads;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(
        State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream), p.k, p.heads});
}

GNNTUNE_TARGET_CLONES
void row_head(const State& s, const Operands& o, std::int32_t i, std::int32_t h) {
    const CsrFormat& g = *s.csr;
    const std::int32_t begin = g.row_ptr[i];
    const std::int32_t end = g.row_ptr[i + 1];
    const std::int64_t unit = std::int64_t{i} * s.heads + h;
    const float score = o.score_row[unit];
    const auto logit = [&](std::int32_t e) {
        const float v = score + o.score_col[std::int64_t{g.col_idx[e]} * s.heads + h];
        return v > 0.0F ? v : o.negative_slope * v;
    };
    float max = kMinusInfinity;
    for (std::int32_t e = begin; e < end; ++e) max = std::max(max, logit(e));
    float* y = o.y + unit * s.k;
    std::fill(y, y + s.k, 0.0F);
    const kernels::CpuDropout dropout(o);
    double sum = 0;
    for (std::int32_t e = begin; e < end; ++e) {
        const float value = logit(e);
        if (value == kMinusInfinity) continue;  // takes no part, whatever x holds
        const float term = std::exp(value - max);
        sum += term;
        if (!dropout.keeps(g, e, h)) continue;
        kernels::axpy(y, term, o.x + (std::int64_t{g.col_idx[e]} * s.heads + h) * s.k, s.k);
    }
    if (sum != 0) {
        const auto scale = static_cast<float>(1.0 / (sum * (1.0 - static_cast<double>(o.dropout))));
        for (std::int32_t f = 0; f < s.k; ++f) y[f] *= scale;
    }
    if (o.lse) o.lse[unit] = sum != 0 ? static_cast<float>(max + std::log(sum)) : kMinusInfinity;
}

void run(const void* state, const Operands& operands, void*, StreamHandle) {
    const Operands o = with_seed_read(operands);
    const auto& s = *static_cast<const State*>(state);
    const std::int64_t terms = s.csr->m * (s.k + kernels::kExpTerms) + std::int64_t{s.csr->n_rows} * s.k;
    kernels::on_team(terms * s.heads, [&](const kernels::Team& team) {
        team.for_row_blocks(s.csr->n_rows, kBlock, [&](std::int32_t first, std::int32_t last) {
            for (std::int32_t i = first; i < last; ++i) {
                for (std::int32_t h = 0; h < s.heads; ++h) row_head(s, o, i, h);
            }
        });
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gat_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace gat_cpu_rows

void register_gat_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "gat.cpu_rows";
    v.summary = "OpenMP over rows, softmax and weighted sum in two walks over each";
    v.op = Op::gat;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = kernels::kAttentionInF32;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &gat_cpu_rows::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &gat_cpu_rows::run;
    v.cost_terms = &gat_cpu_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
