// spmm.cpu_sampled: y[i, :] = scale_i * sum over samples s < min(degree_i, S) of w_e(i, s) x[col_e(i, s), :]
//                   (+ self_weight[i] x[i, :]), for the mean divided by the number of terms.
//                   e(i, s) is RowSample::position(): ES-SpMM's Bucket or FastRand.
//
// Work     threads take blocks of rows as they become free; the row of y is the accumulator, its loop is vectorised.
// Data     one id, one weight and one row of x per sample.
// Order    every row is summed in the order of its samples: repeats bit for bit.
#include <algorithm>
#include <vector>

#include "kernels/common/cpu.hpp"
#include "kernels/spmm/common/sample_params.hpp"

namespace gnntune {
namespace spmm_cpu_sampled {
namespace {

constexpr std::int32_t kRowBlock = 64;

struct SampledParams {
    int sampling = 0;      ///< a SampleKind
    int S = 64;            ///< largest number of edges used of a row
    int prime = 577;       ///< P' of equation 2
    int second_prime = 0;  ///< used for rows whose degree `prime` divides; 0: `prime` there too
    int rescale = 0;       ///< 1: sums are multiplied by degree / S where edges were left out

    static const std::vector<ParamField<SampledParams>>& fields() {
        static const std::vector<ParamField<SampledParams>> kFields{
            {"sampling", &SampledParams::sampling, {0, 1}, kernels::kSampleKinds},
            {"S", &SampledParams::S, kernels::kSampleWidths},
            {"prime", &SampledParams::prime, kernels::kSamplePrimes},
            {"second_prime", &SampledParams::second_prime, kernels::kSecondPrimes},
            {"rescale", &SampledParams::rescale, {0, 1}},
        };
        return kFields;
    }
    static Verdict legal(const Query&, const SampledParams& p) {
        return kernels::require_useful_rule(kernels::rule_of(p));
    }
    static bool searched(const Query& q, const SampledParams& p) {
        // On a CPU a wider sample costs its share of edges and no more: steps of four show the curve.
        const bool coarse = p.S == 16 || p.S == 64 || p.S == 256 || p.S == 1024;
        return coarse && kernels::worth_searching(q, kernels::rule_of(p), defaults(q).S);
    }
    static SampledParams defaults(const Query&) { return {}; }
};

using State = kernels::PlanState<SampledParams, CsrFormat>;

SampleRule rule_of_params(const Params& params) {
    return kernels::rule_of(from_params<SampledParams>(params));
}

struct Rows {
    std::int32_t first;
    std::int32_t last;
};

constexpr std::int32_t kPieceWidth = 1024;  ///< features of a row that are added up in pieces at once

GNNTUNE_TARGET_CLONES
void rows(const CsrFormat& g, const SampleRule& rule, const float* edge_weight, const Operands& o, std::int32_t k,
          bool mean, Rows range) {
    float part[kPieceWidth];
    for (std::int32_t i = range.first; i < range.last; ++i) {
        float* out = o.y + static_cast<std::int64_t>(i) * k;
        std::fill(out, out + k, 0.0F);
        const std::int32_t begin = g.row_ptr[i];
        const std::int32_t degree = g.row_ptr[i + 1] - begin;
        const RowSample row = sample_row(rule, degree);
        // Samples [s, stop) of the features [f, f + width).
        const auto add_chain = [&](std::int32_t s, std::int32_t stop, std::int32_t f, std::int32_t width, float* into) {
            for (; s < stop; ++s) {
                const std::int32_t e = begin + row.position(s);
                const float w = edge_weight ? edge_weight[g.edge_id ? g.edge_id[e] : e] : 1.0F;
                kernels::axpy(into, w, o.x + static_cast<std::int64_t>(g.col_idx[e]) * k + f, width);
            }
        };
        add_chain(0, std::min(kernels::kChain, row.count), 0, k, out);
        for (std::int32_t s = kernels::kChain; s < row.count; s += kernels::kChain) {
            const std::int32_t stop = s + std::min(kernels::kChain, row.count - s);
            for (std::int32_t f = 0; f < k; f += kPieceWidth) {
                const std::int32_t width = std::min(kPieceWidth, k - f);
                std::fill(part, part + width, 0.0F);
                add_chain(s, stop, f, width, part);
                kernels::axpy(out + f, 1.0F, part, width);
            }
        }
        const float scale = sample_scale(rule, degree);
        for (std::int32_t f = 0; f < k; ++f) out[f] *= scale;
        if (o.self_weight) kernels::axpy(out, o.self_weight[i], o.x + static_cast<std::int64_t>(i) * k, k);
        if (!mean) continue;
        const float factor = kernels::mean_factor(row.count + (o.self_weight ? 1 : 0));
        for (std::int32_t f = 0; f < k; ++f) out[f] *= factor;
    }
}

void run(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const SampleRule rule = kernels::rule_of(s.params);
    const float* weight = s.weighted ? o.edge_weight : nullptr;
    const std::int64_t samples = std::min<std::int64_t>(s.graph->m, std::int64_t{s.graph->n_rows} * rule.width);
    kernels::on_team((samples + s.graph->n_rows) * s.k, [&](const kernels::Team& team) {
        team.for_row_blocks(s.graph->n_rows, kRowBlock, [&](std::int32_t first, std::int32_t last) {
            rows(*s.graph, rule, weight, o, s.k, s.mean, {first, last});
        });
    });
}

CostTerms cost_terms(const Query& q, const Params& params) {
    return kernels::sampled_cost(q, rule_of_params(params));
}

}  // namespace
}  // namespace spmm_cpu_sampled

void register_spmm_cpu_sampled(Registry& registry) {
    Variant v;
    v.id = "spmm.cpu_sampled";
    v.version = 2;  // long samples are sums of sums
    v.summary = "ES-SpMM's Bucket and FastRand on OpenMP threads";
    v.op = Op::spmm;
    v.backend = Backend::cpu;
    v.approximate = true;
    v.can = kernels::kSampledSpmm;
    v.can.storage = {DType::f32};
    kernels::set_typed_params<spmm_cpu_sampled::SampledParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_plan_state<spmm_cpu_sampled::SampledParams, CsrFormat, kFormatCsr>;
    v.sampling = &spmm_cpu_sampled::rule_of_params;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &spmm_cpu_sampled::run;
    v.cost_terms = &spmm_cpu_sampled::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
