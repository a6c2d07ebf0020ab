// attention.cpu_rows: y[i, h, :] = sum over edges e of row i of alpha~_e x[col_e, h, :], alpha the softmax over the row
// of s <x_row[i, h, :], key[col_e, h, :]>; alpha~ = alpha / (1 - p) where dropout keeps the edge, else 0.
//
// Work     threads take blocks of rows as they become free. Per row and head one pass over the edges with a running
//          maximum: when it grows, the row of y, which is the accumulator, is scaled down to the new one.
// Data     Q_A, one row of key and one of x per edge; the query stays in the first-level cache.
// Order    every row is summed in edge order: repeats bit for bit.
#include <algorithm>

#include "kernels/common/cpu_attention.hpp"
#include "kernels/common/dot_attention.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune {
namespace attention_cpu_rows {
namespace {

using State = kernels::RowBlockState;

struct Products {
    float scale;
    const float* query;
    const float* key;
    std::int32_t k;

    __attribute__((always_inline)) float operator()(std::int64_t source) const {
        return scale * kernels::dot(query, key + source * k, k);
    }
};

GNNTUNE_TARGET_CLONES
void rows(const State& s, const Operands& o, float scale, std::int32_t first, std::int32_t last) {
    const kernels::CpuDropout dropout(o);
    for (std::int64_t unit = static_cast<std::int64_t>(first) * s.heads;
         unit < static_cast<std::int64_t>(last) * s.heads; ++unit) {
        kernels::attend(*s.csr, unit, s.heads, s.k, o.x, o.y, o.lse, Products{scale, o.x_row + unit * s.k, o.key, s.k},
                        dropout);
    }
}

void run(const void* state, const Operands& operands, void*, StreamHandle) {
    const Operands o = with_seed_read(operands);
    const auto& s = *static_cast<const State*>(state);
    const float scale = logit_scale(o, s.k);
    kernels::on_team(kernels::attention_terms(*s.csr, s.k, s.heads), [&](const kernels::Team& team) {
        team.for_row_blocks(s.csr->n_rows, s.row_block,
                            [&](std::int32_t first, std::int32_t last) { rows(s, o, scale, first, last); });
    });
}

CostTerms cost_terms(const Query& q, const Params&) {
    return kernels::dot_attention_cost(q, kernels::csr_bytes(q));
}

}  // namespace
}  // namespace attention_cpu_rows

void register_attention_cpu_rows(Registry& registry) {
    Variant v;
    v.id = "attention.cpu_rows";
    v.summary = "OpenMP over blocks of rows; dot product, softmax and sum in one pass";
    v.op = Op::attention;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = kernels::kAttentionInF32;
    kernels::set_typed_params<kernels::RowBlockParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &kernels::prepare_row_blocks;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &attention_cpu_rows::run;
    v.cost_terms = &attention_cpu_rows::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
