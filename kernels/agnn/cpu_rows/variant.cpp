// agnn.cpu_rows: y[i, h, :] = sum over edges e of row i of alpha_e x[col_e, h, :], alpha the softmax over the row of
// beta[h] cos(x_row[i, h, :], x[col_e, h, :]).
//
// Work     threads take blocks of rows as they become free. Per row and head one pass over the edges with a running
//          maximum: when it grows, the row of y, which is the accumulator, is scaled down to the new one.
// Data     Q_A, one row of x per edge, used for the cosine and for the sum while it is in the first-level cache.
// Order    every row is summed in edge order: repeats bit for bit.
#include <algorithm>

#include "kernels/common/attention.hpp"
#include "kernels/common/cpu_attention.hpp"
#include "kernels/common/cpu_cosine.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace agnn_cpu_rows {
namespace {

using State = kernels::RowBlockState;

struct Cosines {
    float factor;
    const float* inverse_norm;
    const float* target;
    const float* x;
    std::int32_t k;

    __attribute__((always_inline)) float operator()(std::int64_t source) const {
        return factor * inverse_norm[source] * kernels::dot(target, x + source * k, k);
    }
};

GNNTUNE_TARGET_CLONES
void rows(const State& s, const Operands& o, const float* inverse_norm, std::int32_t first, std::int32_t last) {
    const CsrFormat& g = *s.csr;
    const std::int32_t k = s.k;
    for (std::int64_t unit = static_cast<std::int64_t>(first) * s.heads;
         unit < static_cast<std::int64_t>(last) * s.heads; ++unit) {
        const float* target = o.x_row + unit * k;
        const float factor = o.beta[unit % s.heads] * kernels::inverse_norm(target, k);
        kernels::attend(g, unit, s.heads, k, o.x, o.y, o.lse, Cosines{factor, inverse_norm, target, o.x, k});
    }
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return static_cast<std::size_t>(s.csr->n_cols) * static_cast<std::size_t>(s.heads) * sizeof(float);
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    auto* inverse_norm = static_cast<float*>(workspace);
    const std::int64_t vectors = static_cast<std::int64_t>(s.csr->n_cols) * s.heads;
    const std::int64_t terms = kernels::attention_terms(*s.csr, s.k, s.heads) + vectors * s.k;
    kernels::on_team(terms, [&](const kernels::Team& team) {
        kernels::inverse_norms(team, o.x, s.k, vectors, inverse_norm);
        team.barrier();
        team.for_row_blocks(s.csr->n_rows, s.row_block,
                            [&](std::int32_t first, std::int32_t last) { rows(s, o, inverse_norm, first, last); });
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms = kernels::gather_cost(q, kernels::csr_bytes(q));
    terms.dram_bytes += 4.0 * static_cast<double>(q.n_rows + q.n_cols) * q.problem.k * q.problem.heads;
    terms.flops *= 2.0;
    return terms;
}

}  // namespace
}  // namespace agnn_cpu_rows

void register_agnn_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "agnn.cpu_rows";
    v.summary = "OpenMP over blocks of rows, cosine, softmax and sum in one pass";
    v.op = Op::agnn;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.applicable = &kernels::require_fp32_attention;
    kernels::set_typed_params<kernels::RowBlockParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_row_blocks;
    v.workspace_bytes = &agnn_cpu_rows::workspace_bytes;
    v.launch = &agnn_cpu_rows::run;
    v.cost_terms = &agnn_cpu_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
