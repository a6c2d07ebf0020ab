// agnn_grad.cpu_rows_cols: with c = cos(x_row[i], x[j]), alpha = exp(beta c - lse[i]) and
// de = alpha (<grad_y[i], x[j]> - <grad_y[i], y[i]>), per head:
//     grad_beta   = sum of de c over all edges
//     grad_x_row  = P_i(sum_j  w_ij x[j])                        w_ij = beta de / (|x_row[i]| |x[j]|)
//     grad_x      = P_j(sum_i  w_ij x_row[i]) + sum_i alpha grad_y[i]
// P_v(z) = z - <z, v> v / |v|^2 takes out the part along the own vector, which the length does not see.
//
// Work     first the inverse norms; then blocks of rows over the CSR; then blocks of columns over the CSC.
// Data     alpha and w of every edge and head pass from rows to columns through the workspace, in the caller's edge
//          order. A gathered row is used for its dot products and its sums while it is in the first-level cache.
// Order    rows and columns in edge order, grad_beta in blocks of kBlock rows: repeats bit for bit.
#include <algorithm>
#include <cmath>

#include "kernels/common/attention.hpp"
#include "kernels/common/cpu_attention.hpp"
#include "kernels/common/cpu_cosine.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_grad_cpu_rows_cols {
namespace {

constexpr std::int32_t kBlock = 64;  ///< rows or columns that a thread takes at once

using State = kernels::TwoSidesState;

struct Scratch {
    float* inverse_row;  ///< [n_rows, heads]
    float* inverse_col;  ///< [n_cols, heads]
    float* alpha;        ///< [m, heads]
    float* weight;       ///< [m, heads]
    double* beta;        ///< [blocks of rows, heads]
};

Scratch cut(const State& s, kernels::WorkspaceCutter& space) {
    Scratch out{};
    out.inverse_row = space.take<float>(std::int64_t{s.csr->n_rows} * s.heads);
    out.inverse_col = space.take<float>(std::int64_t{s.csr->n_cols} * s.heads);
    out.alpha = space.take<float>(s.csr->m * s.heads);
    out.weight = space.take<float>(s.csr->m * s.heads);
    out.beta = space.take<double>(kernels::ceil_div(s.csr->n_rows, kBlock) * s.heads);
    return out;
}

/// z -= <z, v> v inverse^2
__attribute__((always_inline)) inline void project(float* z, const float* v, float inverse, std::int32_t k) {
    const float along = kernels::dot(z, v, k) * inverse * inverse;
    kernels::axpy(z, -along, v, k);
}

GNNTUNE_TARGET_CLONES
void rows(const State& s, const Operands& o, const Scratch& t, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csr;
    const std::int32_t k = s.k;
    double* beta_sum = t.beta + static_cast<std::int64_t>(first / kBlock) * s.heads;
    std::fill(beta_sum, beta_sum + s.heads, 0.0);
    for (std::int32_t i = first; i < last; ++i) {
        for (std::int32_t h = 0; h < s.heads; ++h) {
            const std::int64_t unit = static_cast<std::int64_t>(i) * s.heads + h;
            const float* target = o.x_row + unit * k;
            const float* grad = o.grad_y + unit * k;
            const float inner = kernels::dot(grad, o.y_saved + unit * k, k);
            float* out = o.grad_x_row + unit * k;
            std::fill(out, out + k, 0.0F);
            for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
                const std::int64_t source = static_cast<std::int64_t>(g.col_idx[e]) * s.heads + h;
                const float* x = o.x + source * k;
                const float inverse = t.inverse_row[unit] * t.inverse_col[source];
                const float cosine = kernels::dot(target, x, k) * inverse;
                const float alpha = std::exp(o.beta[h] * cosine - o.lse_saved[unit]);
                const float de = alpha * (kernels::dot(grad, x, k) - inner);
                const float weight = o.beta[h] * de * inverse;
                const std::int64_t at = kernels::edge_value_at(g, e, s.heads, h);
                t.alpha[at] = alpha;
                t.weight[at] = weight;
                beta_sum[h] += de * cosine;
                kernels::axpy(out, weight, x, k);
            }
            // Without edges there is nothing to project, whatever the vector holds.
            if (g.row_ptr[i] < g.row_ptr[i + 1]) project(out, target, t.inverse_row[unit], k);
        }
    }
}

GNNTUNE_TARGET_CLONES
void columns(const State& s, const Operands& o, const Scratch& t, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csc;
    const std::int32_t k = s.k;
    for (std::int64_t unit = static_cast<std::int64_t>(first) * s.heads;
         unit < static_cast<std::int64_t>(last) * s.heads; ++unit) {
        float* out = o.grad_x + unit * k;
        std::fill(out, out + k, 0.0F);
        // The projection is of the cosine's part alone, so that part comes first.
        kernels::add_weighted(g, unit, s.heads, k, t.weight, o.x_row, out);
        const std::int64_t vertex = unit / s.heads;
        if (g.row_ptr[vertex] < g.row_ptr[vertex + 1]) project(out, o.x + unit * k, t.inverse_col[unit], k);
        kernels::add_weighted(g, unit, s.heads, k, t.alpha, o.grad_y, out);
    }
}

std::size_t workspace_bytes(const void* state) {
    kernels::WorkspaceCutter space(nullptr);
    cut(*static_cast<const State*>(state), space);
    return space.bytes();
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    kernels::WorkspaceCutter space(workspace);
    const Scratch t = cut(s, space);
    const std::int32_t n_rows = s.csr->n_rows;
    const std::int32_t n_cols = s.csr->n_cols;
    kernels::on_team(kernels::attention_grad_terms(s), [&](const kernels::Team& team) {
        kernels::inverse_norms(team, o.x_row, s.k, std::int64_t{n_rows} * s.heads, t.inverse_row);
        kernels::inverse_norms(team, o.x, s.k, std::int64_t{n_cols} * s.heads, t.inverse_col);
        team.barrier();
        kernels::rows_then_columns(
            team, s, kBlock, [&](std::int32_t first, std::int32_t last) { rows(s, o, t, first, last); },
            [&](std::int32_t first, std::int32_t last) { columns(s, o, t, first, last); });
    });
    for (std::int32_t h = 0; h < s.heads; ++h) {
        double sum = 0;
        for (std::int64_t b = 0; b < kernels::ceil_div(n_rows, kBlock); ++b) sum += t.beta[b * s.heads + h];
        o.grad_beta[h] = static_cast<float>(sum);
    }
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::gather_cost(q, 2.0 * kernels::csr_bytes(q));
    const double edges = static_cast<double>(q.m);
    const double width = 4.0 * q.problem.k * q.problem.heads;
    terms.l2_bytes += 2.0 * edges * width + 16.0 * edges * q.problem.heads;
    terms.dram_bytes += static_cast<double>(3 * q.n_rows + q.n_cols) * width + 16.0 * edges * q.problem.heads;
    terms.flops *= 5.0;
    return terms;
}

}  // namespace
}  // namespace agnn_grad_cpu_rows_cols

void register_agnn_grad_cpu_rows_cols(Registry& registry) {
    Variant v;
    v.id = "agnn_grad.cpu_rows_cols";
    v.summary = "OpenMP over rows of the CSR, then over rows of the CSC; edge values pass through the workspace";
    v.op = Op::agnn_grad;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = kernels::kAttentionInF32;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr_and_csc;
    v.prepare = &kernels::prepare_two_sides;
    v.workspace_bytes = &agnn_grad_cpu_rows_cols::workspace_bytes;
    v.launch = &agnn_grad_cpu_rows_cols::run;
    v.cost_terms = &agnn_grad_cpu_rows_cols::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
