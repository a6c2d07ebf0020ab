// spmm_grad.cpu_rows_cols: both gradients of y = A x (+ self loops) on the CPU.
//
//   rows     grad_edge_weight[id_e] = <grad_y[i, :], x[col_e, :]> for the edges e of row i,
//            grad_self_weight[i] = <grad_y[i, :], x[i, :]>
//   columns  grad_x[j, :] = self_weight[j] grad_y[j, :] + sum over the edges e of column j of w_e grad_y[row_e, :]
//
// Work     threads take blocks of rows, then blocks of columns, as they become free; loops over features are vectorised.
// Order    fixed for every element: repeats bit for bit.
#include <algorithm>

#include "core/graph/graph.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/spmm_grad.hpp"
#include "kernels/common/typed_variant.hpp"

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
    bool weighted;
    bool self_loop;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<State>(State{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                                         c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream),
                                         from_params<CpuRowsColsParams>(c.params).block, p.k, p.weighted,
                                         p.self_loop});
}

GNNTUNE_TARGET_CLONES
void rows(const State& s, const Operands& o, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csr;
    for (std::int32_t i = first; i < last; ++i) {
        const float* grad = o.grad_y + static_cast<std::int64_t>(i) * s.k;
        if (s.self_loop) o.grad_self_weight[i] = kernels::dot(grad, o.x + static_cast<std::int64_t>(i) * s.k, s.k);
        if (!s.weighted) continue;
        for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
            o.grad_edge_weight[g.edge_id ? g.edge_id[e] : e] =
                kernels::dot(grad, o.x + static_cast<std::int64_t>(g.col_idx[e]) * s.k, s.k);
        }
    }
}

GNNTUNE_TARGET_CLONES
void columns(const State& s, const Operands& o, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csc;
    for (std::int32_t j = first; j < last; ++j) {
        float* out = o.grad_x + static_cast<std::int64_t>(j) * s.k;
        std::fill(out, out + s.k, 0.0F);
        if (s.self_loop) kernels::axpy(out, o.self_weight[j], o.grad_y + static_cast<std::int64_t>(j) * s.k, s.k);
        for (std::int32_t e = g.row_ptr[j]; e < g.row_ptr[j + 1]; ++e) {
            const float w = s.weighted ? o.edge_weight[g.edge_id ? g.edge_id[e] : e] : 1.0F;
            kernels::axpy(out, w, o.grad_y + static_cast<std::int64_t>(g.col_idx[e]) * s.k, s.k);
        }
    }
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const std::int32_t n_rows = s.weighted || s.self_loop ? s.csr->n_rows : 0;
    const std::int32_t n_cols = s.csc->n_rows;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic) nowait
        for (std::int32_t first = 0; first < n_rows; first += s.block) {
            rows(s, o, first, std::min(n_rows, first + s.block));
        }
#pragma omp for schedule(dynamic)
        for (std::int32_t first = 0; first < n_cols; first += s.block) {
            columns(s, o, first, std::min(n_cols, first + s.block));
        }
    }
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::spmm_grad_cost(q, kernels::csr_bytes(q) * (q.problem.weighted ? 2 : 1));
    if (q.problem.weighted) terms.l2_bytes += 4.0 * static_cast<double>(q.m) * q.problem.k;
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
    v.applicable = &kernels::require_fp32_sum_with_self_loops;
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
