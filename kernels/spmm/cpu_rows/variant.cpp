// spmm.cpu_rows: y[i, :] = sum over edges e of row i of w_e x[col_e, :], rows shared out among OpenMP threads;
//                with self loops + self_weight[i] x[i, :], for the mean divided by the number of terms; of several
//                heads each by its own weights; the maximum of the terms is in maximum.cpp.
//
// Work     threads take blocks of rows as they become free; a row's tile of features stays in cache while its edges are
//          walked; the inner loop over features is vectorised.
// Data     Q_A once per feature tile, one row of x per edge. A tile of y is summed on the stack and written once, in
//          f32, f16 or bf16.
// Order    every row is summed in edge order, kChain edges and then those sums: repeats bit for bit.
#include <algorithm>

#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/cpu_rows/maximum.hpp"

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
        if (p.tile > 16 && p.tile / 4 >= kernels::row_width(q.problem)) {
            return Verdict::no("a tile of " + std::to_string(p.tile) + " features is wider than k needs");
        }
        return Verdict::yes();
    }
    static CpuRowsParams defaults(const Query& q) {
        CpuRowsParams p;
        if (kernels::row_width(q.problem) <= 16) p.tile = 16;
        return p;
    }
};

using State = kernels::PlanState<CpuRowsParams, CsrFormat>;

// Heads of a row, each of which has weights of its own.
struct Heads {
    std::int32_t count;
    std::int32_t k;
};

// A tile of a row of k features is summed in fp32 and stored once, whatever it is stored in.
template <typename T, bool HEADS>
__attribute__((always_inline)) inline void rows_of(const CsrFormat& g, const T* edge_weight, const T* self_weight,
                                                   const T* x, T* y, std::int32_t k, Heads heads, bool mean,
                                                   std::int32_t first, std::int32_t last, std::int32_t tile) {
    float sum[kWidestTile];
    float before[kWidestTile];  // sum of the pieces of a long row
    for (std::int32_t f = 0; f < k; f += tile) {
        const std::int32_t width = std::min(tile, k - f);
        const std::int32_t first_head = HEADS ? f / heads.k : 0;
        // Adds the row of a source by the weights at `at` of a list; null: all are 1.
        const auto add = [&](const T* weights, std::int64_t at, std::int64_t source) {
            const T* row = x + source * k + f;
            if constexpr (HEADS) {
                const T* weight = weights + at * heads.count + first_head;
                std::int32_t stop = (first_head + 1) * heads.k - f;
                for (std::int32_t c = 0; c < width; stop += heads.k) {
                    const std::int32_t begin = c;
                    c = std::min(stop, width);
                    const float w = to_float(*weight++);
#pragma omp simd
                    for (std::int32_t i = begin; i < c; ++i) sum[i] += w * to_float(row[i]);
                }
            } else {
                const float w = weights ? to_float(weights[at]) : 1.0F;
#pragma omp simd
                for (std::int32_t c = 0; c < width; ++c) sum[c] += w * to_float(row[c]);
            }
        };
        for (std::int32_t i = first; i < last; ++i) {
            const std::int32_t end = g.row_ptr[i + 1];
            const bool pieces = end - g.row_ptr[i] > kernels::kChain;
            if (pieces) std::fill(before, before + width, 0.0F);
            std::fill(sum, sum + width, 0.0F);
            for (std::int32_t e = g.row_ptr[i]; e < end;) {
                const std::int32_t stop = e + std::min(kernels::kChain, end - e);
                for (; e < stop; ++e) {
                    add(edge_weight, g.edge_id ? g.edge_id[e] : e, g.col_idx[e]);
                }
                if (!pieces) break;
                for (std::int32_t c = 0; c < width; ++c) before[c] += sum[c];
                std::fill(sum, sum + width, 0.0F);
            }
            if (pieces) std::copy(before, before + width, sum);
            if (self_weight) add(self_weight, i, i);
            const std::int64_t terms = std::int64_t{end} - g.row_ptr[i] + (self_weight ? 1 : 0);
            const float factor = mean ? kernels::mean_factor(terms) : 1.0F;
            T* out = y + static_cast<std::int64_t>(i) * k + f;
            for (std::int32_t c = 0; c < width; ++c) out[c] = from_float<T>(factor * sum[c]);
        }
    }
}

GNNTUNE_TARGET_CLONES
void rows(const CsrFormat& g, const float* edge_weight, const float* self_weight, const float* x, float* y,
          std::int32_t k, Heads heads, bool mean, std::int32_t first, std::int32_t last, std::int32_t tile) {
    if (heads.count > 1) {
        rows_of<float, true>(g, edge_weight, self_weight, x, y, k, heads, mean, first, last, tile);
    } else {
        rows_of<float, false>(g, edge_weight, self_weight, x, y, k, heads, mean, first, last, tile);
    }
}

GNNTUNE_TARGET_CLONES
void rows(const CsrFormat& g, const Float16* edge_weight, const Float16* self_weight, const Float16* x, Float16* y,
          std::int32_t k, Heads heads, bool mean, std::int32_t first, std::int32_t last, std::int32_t tile) {
    if (heads.count > 1) {
        rows_of<Float16, true>(g, edge_weight, self_weight, x, y, k, heads, mean, first, last, tile);
    } else {
        rows_of<Float16, false>(g, edge_weight, self_weight, x, y, k, heads, mean, first, last, tile);
    }
}

GNNTUNE_TARGET_CLONES
void rows(const CsrFormat& g, const BFloat16* edge_weight, const BFloat16* self_weight, const BFloat16* x, BFloat16* y,
          std::int32_t k, Heads heads, bool mean, std::int32_t first, std::int32_t last, std::int32_t tile) {
    if (heads.count > 1) {
        rows_of<BFloat16, true>(g, edge_weight, self_weight, x, y, k, heads, mean, first, last, tile);
    } else {
        rows_of<BFloat16, false>(g, edge_weight, self_weight, x, y, k, heads, mean, first, last, tile);
    }
}

template <typename T>
void run_in(const State& s, const Operands& o) {
    const float* weight = s.weighted ? o.edge_weight : nullptr;
    const std::int32_t width = s.k * s.heads;
    const auto block = [&](std::int32_t first, std::int32_t last) {
        if (s.max) {
            max_rows(*s.graph, elements_of<T>(weight), elements_of<T>(o.x), elements_of<T>(o.y), o.argmax, width, first,
                     last, s.params.tile);
        } else {
            rows(*s.graph, elements_of<T>(weight), elements_of<T>(o.self_weight), elements_of<T>(o.x),
                 elements_of<T>(o.y), width, {s.heads, s.k}, s.mean, first, last, s.params.tile);
        }
    };
    kernels::on_team((s.graph->m + s.graph->n_rows) * width, [&](const kernels::Team& team) {
        team.for_row_blocks(s.graph->n_rows, s.params.row_block, block);
    });
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) { run_in<T>(s, o); });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const auto tiles = kernels::ceil_div(kernels::row_width(q.problem), from_params<CpuRowsParams>(params).tile);
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q) * static_cast<double>(tiles));
    const double argmax = static_cast<double>(q.n_rows) * kernels::argmax_row_bytes(q);
    terms.dram_bytes += argmax;
    terms.l2_bytes += argmax;
    return terms;
}

}  // namespace
}  // namespace spmm_cpu_rows

void register_spmm_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "spmm.cpu_rows";
    v.version = 2;  // long rows are sums of sums
    v.summary = "OpenMP over blocks of rows, vectorised feature tiles";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = {.storage = kEveryStorage, .reduce = kEveryReduction, .self_loops = Takes::yes, .heads = true};
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
