// spmm_grad.cpu_rows_cols: both gradients of y = A x (+ self loops) on the CPU, for sums:
//
//   rows     grad_edge_weight[id_e] = <grad_y[i, :], x[col_e, :]> for the edges e of row i,
//            grad_self_weight[i] = <grad_y[i, :], x[i, :]>
//   columns  grad_x[j, :] = self_weight[j] grad_y[j, :] + sum over the edges e of column j of w_e grad_y[row_e, :]
//
// Of several heads each by its own weights, an edge's one after the other. For means grad_y[i, :] is divided by the
// number of terms of row i. Of a maximum an edge has the features alone in which argmax names it; both of its sums are
// over those.
//
// Work     threads take blocks of rows, then blocks of columns, as they become free; loops over features are vectorised.
// Order    fixed for every element: repeats bit for bit.
#include <algorithm>

#include "core/registry/graph.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm_grad/common/spmm_grad.hpp"

namespace gnntune {
namespace spmm_grad_cpu_rows_cols {
namespace {

struct CpuRowsColsParams {
    int block = 64;  ///< rows or columns that a thread takes at once

    static const std::vector<ParamField<CpuRowsColsParams>>& fields() {
        static const std::vector<ParamField<CpuRowsColsParams>> kFields{
            {"block", &CpuRowsColsParams::block, {16, 64, 256}}};
        return kFields;
    }
    static Verdict legal(const Query&, const CpuRowsColsParams&) { return Verdict::yes(); }
    static CpuRowsColsParams defaults(const Query&) { return {}; }
};

struct State {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    std::int32_t block;
    std::int32_t k;
    std::int32_t heads;
    bool weighted;
    bool self_loop;
    Reduce reduce;

    std::int64_t width() const { return std::int64_t{k} * heads; }
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                                         c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream),
                                         from_params<CpuRowsColsParams>(c.params).block, p.k, p.heads, p.weighted,
                                         p.self_loop, p.reduce});
}

// What a term of the row gives on to its gradients.
float factor_of(const State& s, std::int32_t row) {
    if (s.reduce != Reduce::mean) return 1.0F;
    return kernels::mean_factor(s.csr->row_ptr[row + 1] - s.csr->row_ptr[row] + (s.self_loop ? 1 : 0));
}

// acc[f] += w * x[f], and the sum of a[f] * b[f], over the features that the edge has. Both factors of others are zeros:
// an infinite one must not turn nothing into NaN, and no lane multiplies what nobody asked for: the suite once saw an
// overflow raised here that did not come again.
__attribute__((always_inline)) inline void axpy_won(float* __restrict__ acc, float w, const float* __restrict__ x,
                                                    const std::int32_t* __restrict__ winner, std::int32_t edge,
                                                    std::int32_t count) {
#pragma omp simd
    for (std::int32_t f = 0; f < count; ++f) {
        const bool won = winner[f] == edge;
        acc[f] += (won ? w : 0.0F) * (won ? x[f] : 0.0F);
    }
}
__attribute__((always_inline)) inline float dot_won(const float* __restrict__ a, const float* __restrict__ b,
                                                    const std::int32_t* __restrict__ winner, std::int32_t edge,
                                                    std::int32_t count) {
    float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
    for (std::int32_t f = 0; f < count; ++f) {
        const bool won = winner[f] == edge;
        sum += (won ? a[f] : 0.0F) * (won ? b[f] : 0.0F);
    }
    return sum;
}

// out[h] = factor <a[h, :], b[h, :]>
__attribute__((always_inline)) inline void dots(const State& s, float factor, const float* a, const float* b,
                                                float* __restrict__ out) {
    for (std::int32_t h = 0; h < s.heads; ++h) {
        const std::int64_t at = std::int64_t{h} * s.k;
        out[h] = factor * kernels::dot(a + at, b + at, s.k);
    }
}

// out[h, :] += factor weights[h] x[h, :]; null weights: 1
__attribute__((always_inline)) inline void add(const State& s, float* __restrict__ out, float factor,
                                               const float* weights, const float* x) {
    for (std::int32_t h = 0; h < s.heads; ++h) {
        const std::int64_t at = std::int64_t{h} * s.k;
        kernels::axpy(out + at, factor * (weights ? weights[h] : 1.0F), x + at, s.k);
    }
}

GNNTUNE_TARGET_CLONES
void rows(const State& s, const Operands& o, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csr;
    for (std::int32_t i = first; i < last; ++i) {
        const std::int64_t row = i * s.width();
        const float* grad = o.grad_y + row;
        const float factor = factor_of(s, i);
        if (s.self_loop) dots(s, factor, grad, o.x + row, o.grad_self_weight + std::int64_t{i} * s.heads);
        if (!s.weighted) continue;
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
            const float* x = o.x + g.col_idx[e] * s.width();
            if (s.reduce == Reduce::max) {
                o.grad_edge_weight[id] = dot_won(grad, x, o.argmax_saved + row, id, s.k);
            } else {
                dots(s, factor, grad, x, o.grad_edge_weight + std::int64_t{id} * s.heads);
            }
        }
    }
}

GNNTUNE_TARGET_CLONES
void columns(const State& s, const Operands& o, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csc;
    for (std::int32_t j = first; j < last; ++j) {
        float* out = o.grad_x + j * s.width();
        std::fill(out, out + s.width(), 0.0F);
        if (s.self_loop) {
            add(s, out, factor_of(s, j), o.self_weight + std::int64_t{j} * s.heads, o.grad_y + j * s.width());
        }
        for (std::int32_t e = g.row_ptr[j]; e < g.row_ptr[j + 1]; ++e) {
            const std::int32_t id = g.edge_id ? g.edge_id[e] : e;
            const float* weights = s.weighted ? o.edge_weight + std::int64_t{id} * s.heads : nullptr;
            const std::int64_t row = g.col_idx[e] * s.width();
            if (s.reduce == Reduce::max) {
                axpy_won(out, weights ? *weights : 1.0F, o.grad_y + row, o.argmax_saved + row, id, s.k);
            } else {
                add(s, out, factor_of(s, g.col_idx[e]), weights, o.grad_y + row);
            }
        }
    }
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const std::int32_t n_rows = s.weighted || s.self_loop ? s.csr->n_rows : 0;
    const std::int32_t n_cols = s.csc->n_rows;
    const std::int64_t sums = s.csr->m * (s.weighted ? 2 : 1) + n_rows + n_cols;
    kernels::on_team(sums * s.width(), [&](const kernels::Team& team) {
        team.for_row_blocks(n_rows, s.block, [&](std::int32_t first, std::int32_t last) { rows(s, o, first, last); });
        team.for_row_blocks(n_cols, s.block,
                            [&](std::int32_t first, std::int32_t last) { columns(s, o, first, last); });
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q) * (q.problem.weighted ? 2 : 1));
    if (q.problem.weighted) terms.l2_bytes += 4.0 * static_cast<double>(q.m * kernels::row_width(q.problem));
    // A row of argmax with each of grad_y, in both passes.
    terms.l2_bytes += static_cast<double>(q.m) * kernels::argmax_row_bytes(q) * (q.problem.weighted ? 2 : 1);
    terms.dram_bytes += static_cast<double>(q.n_rows) * kernels::argmax_row_bytes(q);
    return terms;
}

}  // namespace
}  // namespace spmm_grad_cpu_rows_cols

void register_spmm_grad_cpu_rows_cols(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.cpu_rows_cols";
    v.summary = "OpenMP over rows for the weights' gradient, over columns for that of x";
    v.op = Op::spmm_grad;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = {.reduce = kEveryReduction, .self_loops = Takes::yes, .heads = true};
    kernels::set_typed_params<spmm_grad_cpu_rows_cols::CpuRowsColsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr_and_csc;
    v.prepare = &spmm_grad_cpu_rows_cols::prepare;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_grad_cpu_rows_cols::run;
    v.cost_terms = &spmm_grad_cpu_rows_cols::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
