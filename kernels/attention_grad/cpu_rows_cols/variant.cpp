// attention_grad.cpu_rows_cols: with alpha = exp(s <q_i, key_j> - lse[i]), q = x_row, and
// de = alpha (f <grad_y[i], x[j]> - <grad_y[i], y[i]>), f = 1 / (1 - p) where dropout keeps the edge, else 0, per head:
//     grad_x_row = sum_j w_ij key[j]          w_ij = s de_ij
//     grad_key   = sum_i w_ij q[i]
//     grad_x     = sum_i f_ij alpha_ij grad_y[i]
//
// Work     blocks of rows over the CSR, then blocks of columns over the CSC.
// Data     f alpha and w of every edge and head pass from rows to columns through the workspace, in the caller's edge
//          order, so that dot products are computed once.
// Order    rows and columns in edge order: repeats bit for bit.
#include <algorithm>
#include <cmath>

#include "kernels/common/cpu_attention.hpp"
#include "kernels/common/dot_attention.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace attention_grad_cpu_rows_cols {
namespace {

constexpr std::int32_t kBlock = 64;  ///< rows or columns that a thread takes at once

using State = kernels::TwoSidesState;

struct Scratch {
    float* alpha;   ///< [m, heads], after dropout
    float* weight;  ///< [m, heads]
};

Scratch cut(const State& s, kernels::WorkspaceCutter& space) {
    float* alpha = space.take<float>(s.csr->m * s.heads);
    return {alpha, space.take<float>(s.csr->m * s.heads)};
}

GNNTUNE_TARGET_CLONES
void rows(const State& s, const Operands& o, const Scratch& t, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csr;
    const std::int32_t k = s.k;
    const float scale = logit_scale(o, k);
    const kernels::CpuDropout dropout(o);
    for (std::int32_t i = first; i < last; ++i) {
        for (std::int32_t h = 0; h < s.heads; ++h) {
            const std::int64_t unit = static_cast<std::int64_t>(i) * s.heads + h;
            float* out = o.grad_x_row + unit * k;
            std::fill(out, out + k, 0.0F);
            if (g.row_ptr[i] == g.row_ptr[i + 1]) continue;  // without any edge the inputs may be null pointers
            const float* query = o.x_row + unit * k;
            const float* grad = o.grad_y + unit * k;
            const float inner = kernels::dot(grad, o.y_saved + unit * k, k);
            for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
                const std::int64_t source = static_cast<std::int64_t>(g.col_idx[e]) * s.heads + h;
                const float* key = o.key + source * k;
                const float alpha = std::exp(scale * kernels::dot(query, key, k) - o.lse_saved[unit]);
                const bool kept = dropout.keeps(g, e, h);
                const float d = kept ? dropout.keep_scale() * kernels::dot(grad, o.x + source * k, k) : 0.0F;
                const float weight = scale * alpha * (d - inner);
                const std::int64_t at = kernels::edge_value_at(g, e, s.heads, h);
                t.alpha[at] = kept ? dropout.keep_scale() * alpha : 0.0F;
                t.weight[at] = weight;
                kernels::axpy(out, weight, key, k);
            }
        }
    }
}

GNNTUNE_TARGET_CLONES
void columns(const State& s, const Operands& o, const Scratch& t, std::int32_t first, std::int32_t last) {
    const auto sum = [&](std::int64_t unit, const float* value, const float* from, float* grad) {
        float* out = grad + unit * s.k;
        std::fill(out, out + s.k, 0.0F);
        kernels::add_weighted(*s.csc, unit, s.heads, s.k, value, from, out);
    };
    for (std::int64_t unit = static_cast<std::int64_t>(first) * s.heads;
         unit < static_cast<std::int64_t>(last) * s.heads; ++unit) {
        sum(unit, t.weight, o.x_row, o.grad_key);
        sum(unit, t.alpha, o.grad_y, o.grad_x);
    }
}

std::size_t workspace_bytes(const void* state) {
    kernels::WorkspaceCutter space(nullptr);
    cut(*static_cast<const State*>(state), space);
    return space.bytes();
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle) {
    const Operands o = with_seed_read(operands);
    const auto& s = *static_cast<const State*>(state);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(s, space);
    kernels::on_team(kernels::attention_grad_terms(s), [&](const kernels::Team& team) {
        kernels::rows_then_columns(
            team, s, kBlock, [&](std::int32_t first, std::int32_t last) { rows(s, o, t, first, last); },
            [&](std::int32_t first, std::int32_t last) { columns(s, o, t, first, last); });
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::dot_attention_grad_cost(q, 2.0 * kernels::csr_bytes(q));
    const double edge_values = 16.0 * static_cast<double>(q.m) * q.problem.heads;  // alpha and w, written and read
    terms.l2_bytes += edge_values;
    terms.dram_bytes += edge_values;
    terms.flops *= 5.0 / 7.0;  // columns compute no dot products
    return terms;
}

}  // namespace
}  // namespace attention_grad_cpu_rows_cols

void register_attention_grad_cpu_rows_cols(Registry& registry) {
    Variant v;
    v.id = "attention_grad.cpu_rows_cols";
    v.summary = "OpenMP over rows of the CSR, then over rows of the CSC; edge values pass through the workspace";
    v.op = Op::attention_grad;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = kernels::kAttentionInF32;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr_and_csc;
    v.prepare = &kernels::prepare_two_sides;
    v.workspace_bytes = &attention_grad_cpu_rows_cols::workspace_bytes;
    v.launch = &attention_grad_cpu_rows_cols::run;
    v.cost_terms = &attention_grad_cpu_rows_cols::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
