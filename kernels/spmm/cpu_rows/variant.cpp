// spmm.cpu_rows: y[i, :] = sum over edges e of row i of w_e x[col_e, :], rows shared out among OpenMP threads;
//                with self loops + self_weight[i] x[i, :], for the mean divided by the number of terms.
//
// Work     threads take blocks of rows as they become free; a row's tile of features stays in cache while its edges are
//          walked; the inner loop over features is vectorised.
// Data     Q_A once per feature tile, one row of x per edge. y is written through the accumulation itself.
// Order    every row is summed in edge order: repeats bit for bit.
#include <algorithm>

#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace spmm_cpu_rows {
namespace {

struct CpuRowsParams {
    int tile = 64;       ///< features that are accumulated together
    int row_block = 64;  ///< rows that a thread takes at once

    static const std::vector<ParamField<CpuRowsParams>>& fields() {
        static const std::vector<ParamField<CpuRowsParams>> kFields{
            {"tile", &CpuRowsParams::tile, {16, 64, 256}},
            {"row_block", &CpuRowsParams::row_block, {16, 64, 256}},
        };
        return kFields;
    }
    static Verdict legal(const Query& q, const CpuRowsParams& p) {
        if (p.tile > 16 && p.tile / 4 >= q.problem.k) {
            return Verdict::no("a tile of " + std::to_string(p.tile) + " features is wider than k needs");
        }
        return Verdict::yes();
    }
    static CpuRowsParams defaults(const Query& q) {
        CpuRowsParams p;
        if (q.problem.k <= 16) p.tile = 16;
        return p;
    }
};

using State = kernels::PlanState<CpuRowsParams, CsrFormat>;

GNNTUNE_TARGET_CLONES
void rows(const CsrFormat& g, const float* edge_weight, const float* self_weight, const float* x, float* y,
          std::int32_t k, bool mean, std::int32_t first, std::int32_t last, std::int32_t tile) {
    for (std::int32_t f = 0; f < k; f += tile) {
        const std::int32_t width = std::min(tile, k - f);
        for (std::int32_t i = first; i < last; ++i) {
            float* out = y + static_cast<std::int64_t>(i) * k + f;
            std::fill(out, out + width, 0.0F);
            for (std::int32_t e = g.row_ptr[i]; e < g.row_ptr[i + 1]; ++e) {
                const float w = edge_weight ? edge_weight[g.edge_id ? g.edge_id[e] : e] : 1.0F;
                kernels::axpy(out, w, x + static_cast<std::int64_t>(g.col_idx[e]) * k + f, width);
            }
            if (self_weight) kernels::axpy(out, self_weight[i], x + static_cast<std::int64_t>(i) * k + f, width);
            if (!mean) continue;
            const std::int32_t terms = g.row_ptr[i + 1] - g.row_ptr[i] + (self_weight ? 1 : 0);
            const float factor = kernels::mean_factor(terms);
            for (std::int32_t c = 0; c < width; ++c) out[c] *= factor;
        }
    }
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const float* weight = s.weighted ? o.edge_weight : nullptr;
    const std::int32_t n = s.graph->n_rows;
    const std::int32_t block = s.params.row_block;
#pragma omp parallel for schedule(dynamic)
    for (std::int32_t first = 0; first < n; first += block) {
        rows(*s.graph, weight, o.self_weight, o.x, o.y, s.k, s.mean, first, std::min(n, first + block), s.params.tile);
    }
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto tiles = kernels::ceil_div(q.problem.k, from_params<CpuRowsParams>(params).tile);
    return kernels::gather_cost(q, kernels::csr_bytes(q) * static_cast<double>(tiles));
}

}  // namespace
}  // namespace spmm_cpu_rows

void register_spmm_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "spmm.cpu_rows";
    v.summary = "OpenMP over blocks of rows, vectorised feature tiles";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.applicable = &kernels::require_fp32_sum_or_mean_with_self_loops;
    kernels::set_typed_params<spmm_cpu_rows::CpuRowsParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<spmm_cpu_rows::CpuRowsParams, CsrFormat, kFormatCsr>;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_cpu_rows::run;
    v.cost_terms = &spmm_cpu_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
