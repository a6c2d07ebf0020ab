// gat_grad.cpu_rows_cols: gradients of gat by a pass over rows and a pass over columns, without atomics.
//
//   alpha = exp(e - lse),  alpha~ = alpha keep,  d = keep <grad_y[i, h, :], x[j, h, :]>,  D_i = <grad_y[i, h], y[i, h]>
//   rows     g = alpha (d - D_i) leaky_relu'(.);  grad_score_row[i, h] = sum over the row of g;  alpha~ and g go into
//            the workspace [m, heads], in the caller's edge order
//   columns  grad_x[j, h, :] = sum of alpha~ grad_y[i, h, :],  grad_score_col[j, h] = sum of g
// Work     OpenMP threads take 64 rows, then 64 columns, at a time.
// Order    every sum runs in edge order: repeats bit for bit.
#include <algorithm>
#include <cmath>

#include "kernels/common/attention.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/cpu_attention.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace gat_grad_cpu_rows_cols {
namespace {

constexpr std::int32_t kBlock = 64;  ///< rows or columns that a thread takes at once

struct EdgeTerm {
    float alpha;  ///< after dropout
    float score;
};

using State = kernels::TwoSidesState;

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return static_cast<std::size_t>(s.csr->m) * static_cast<std::size_t>(s.heads) * sizeof(EdgeTerm);
}

GNNTUNE_TARGET_CLONES
void row_head(const State& s, const Operands& o, EdgeTerm* terms, std::int32_t i, std::int32_t h) {
    const CsrFormat& g = *s.csr;
    const std::int64_t unit = std::int64_t{i} * s.heads + h;
    const float* grad_y = o.grad_y + unit * s.k;
    const float mean = kernels::dot(grad_y, o.y_saved + unit * s.k, s.k);
    const float score = o.score_row[unit];
    const float lse = o.lse_saved[unit];
    const kernels::CpuDropout dropout(o);
    const float keep_scale = dropout.keep_scale();
    double sum = 0;
    for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
        const std::int64_t source = std::int64_t{g.col_idx[e]} * s.heads + h;
        const std::int64_t id = kernels::edge_of(g, e);
        const float v = score + o.score_col[source];
        const float derivative = v > 0.0F ? 1.0F : o.negative_slope;
        const float logit = derivative * v;
        const float alpha = std::isinf(logit) && logit < 0 ? 0.0F : std::exp(logit - lse);  // so in a row of them too
        const bool kept = dropout.keeps(g, e, h);
        const float d = kept ? keep_scale * kernels::dot(grad_y, o.x + source * s.k, s.k) : 0.0F;
        const EdgeTerm t{kept ? alpha * keep_scale : 0.0F, alpha * (d - mean) * derivative};
        terms[id * s.heads + h] = t;
        sum += t.score;
    }
    o.grad_score_row[unit] = static_cast<float>(sum);
}

GNNTUNE_TARGET_CLONES
void col_head(const State& s, const Operands& o, const EdgeTerm* terms, std::int32_t j, std::int32_t h) {
    const CsrFormat& g = *s.csc;
    const std::int64_t unit = std::int64_t{j} * s.heads + h;
    float* grad_x = o.grad_x + unit * s.k;
    std::fill(grad_x, grad_x + s.k, 0.0F);
    double sum = 0;
    for (std::int32_t e = g.row_ptr[j]; e < g.row_ptr[j + 1]; ++e) {
        const EdgeTerm t = terms[kernels::edge_value_at(g, e, s.heads, h)];
        sum += t.score;
        kernels::axpy(grad_x, t.alpha, o.grad_y + (std::int64_t{g.col_idx[e]} * s.heads + h) * s.k, s.k);
    }
    o.grad_score_col[unit] = static_cast<float>(sum);
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle) {
    const Operands o = with_seed_read(operands);
    const auto& s = *static_cast<const State*>(state);
    auto* terms = static_cast<EdgeTerm*>(workspace);
    const auto rows = [&](std::int32_t first, std::int32_t last) {
        for (std::int32_t i = first; i < last; ++i) {
            for (std::int32_t h = 0; h < s.heads; ++h) row_head(s, o, terms, i, h);
        }
    };
    const auto columns = [&](std::int32_t first, std::int32_t last) {
        for (std::int32_t j = first; j < last; ++j) {
            for (std::int32_t h = 0; h < s.heads; ++h) col_head(s, o, terms, j, h);
        }
    };
    kernels::on_team(kernels::attention_grad_terms(s),
                     [&](const kernels::Team& team) { kernels::rows_then_columns(team, s, kBlock, rows, columns); });
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::gat_grad_cost(q, 2.0 * kernels::csr_bytes(q));
}

}  // namespace
}  // namespace gat_grad_cpu_rows_cols

void register_gat_grad_cpu_rows_cols(Registry& registry) {
    Variant v;
    v.id = "gat_grad.cpu_rows_cols";
    v.summary = "OpenMP over rows for the scores, then over columns for the features; no atomics";
    v.op = Op::gat_grad;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.applicable = &kernels::require_fp32_attention;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr_and_csc;
    v.prepare = &kernels::prepare_two_sides;
    v.workspace_bytes = &gat_grad_cpu_rows_cols::workspace_bytes;
    v.launch = &gat_grad_cpu_rows_cols::run;
    v.cost_terms = &gat_grad_cpu_rows_cols::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
