// What the CPU variants of attention over features share: the pass over a row's edges with a running softmax, and sums
// of rows weighted by edge values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/common/philox.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/graph.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/row_block_params.hpp"

namespace gnntune::kernels {

/// State of a pass over blocks of rows.
struct RowBlockState {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t k;
    std::int32_t heads;
    int row_block;
};
/// prepare() of a variant whose params are RowBlockParams.
inline std::shared_ptr<const void> prepare_row_blocks(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<RowBlockState>(
        RowBlockState{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream), p.k, p.heads,
                      from_params<RowBlockParams>(c.params).row_block});
}

/// State of a pass over rows and one over columns.
struct TwoSidesState {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CsrFormat> csc;
    std::int32_t k;
    std::int32_t heads;
};
/// prepare() of such a variant.
inline std::shared_ptr<const void> prepare_two_sides(const PrepareContext& c) {
    const Problem& p = c.query.problem;
    return std::make_shared<TwoSidesState>(
        TwoSidesState{c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream),
                      c.graph.format_as<CsrFormat>(kFormatCsc, p.direction, c.stream), p.k, p.heads});
}

/// Products of an attention op: for each edge and head a dot product and a weighted sum, and what two exponentials and
/// adding up the lanes of a vector take.
inline std::int64_t attention_terms(const CsrFormat& g, std::int32_t k, std::int32_t heads) {
    return (g.m * (2 * std::int64_t{k} + 3 * kExpTerms) + std::int64_t{g.n_rows} * k) * heads;
}
/// The same of its gradient, whose passes compute five such sums.
inline std::int64_t attention_grad_terms(const TwoSidesState& s) {
    const std::int64_t vertices = std::int64_t{s.csr->n_rows} + s.csr->n_cols;
    return (s.csr->m * (5 * std::int64_t{s.k} + 3 * kExpTerms) + vertices * s.k) * s.heads;
}

/// Calls rows(first, last) for blocks of `block` rows, then columns(first, last) for blocks of columns. All threads of
/// a team call it, and share the blocks.
template <typename Rows, typename Columns>
void rows_then_columns(const Team& team, const TwoSidesState& s, std::int32_t block, const Rows& rows,
                       const Columns& columns) {
    team.for_row_blocks(s.csr->n_rows, block, rows);
    team.barrier();
    team.for_row_blocks(s.csc->n_rows, block, columns);
}

/// Edge of position e in the caller's order.
inline std::int64_t edge_of(const CsrFormat& g, std::int32_t e) {
    return g.edge_id ? g.edge_id[e] : e;
}

/// Dropout of a run whose seed has been read (with_seed_read()); none by default.
class CpuDropout {
public:
    CpuDropout() = default;
    explicit CpuDropout(const Operands& o)
        : seed_(o.seed), probability_(o.dropout), keep_scale_(1.0F / (1.0F - o.dropout)) {}

    /// Whether the edge of position e is kept.
    bool keeps(const CsrFormat& g, std::int32_t e, std::int64_t head) const {
        return probability_ <= 0.0F || philox_keep(seed_, static_cast<std::uint32_t>(edge_of(g, e)),
                                                   static_cast<std::uint32_t>(head), probability_);
    }
    /// What the weights of kept edges are multiplied with.
    float keep_scale() const { return keep_scale_; }

private:
    std::uint64_t seed_ = 0;
    float probability_ = 0.0F;
    float keep_scale_ = 1.0F;
};

/// y and lse of one unit = row * heads + head, whose edges' logits are logit(source), source = column * heads + head.
/// One pass with a running maximum: when it grows, y, which is the accumulator, is scaled down to the new one. `lse`
/// may be null.
template <typename Logit>
__attribute__((always_inline)) inline void attend(const CsrFormat& g, std::int64_t unit, std::int32_t heads,
                                                  std::int32_t k, const float* x, float* y, float* lse,
                                                  const Logit& logit, const CpuDropout& dropout = {}) {
    const auto row = static_cast<std::int32_t>(unit / heads);
    const std::int64_t head = unit - static_cast<std::int64_t>(row) * heads;
    float* out = y + unit * k;
    std::fill(out, out + k, 0.0F);
    float max = -std::numeric_limits<float>::infinity();
    float sum = 0.0F;
    for (std::int32_t e = g.row_ptr[row]; e < g.row_ptr[row + 1]; ++e) {
        const std::int64_t source = static_cast<std::int64_t>(g.col_idx[e]) * heads + head;
        const float value = logit(source);
        if (std::isinf(value) && value < 0) continue;  // takes no part, first or not
        if (value > max) {
            const float scale = std::exp(max - value);  // 0 for the first edge
            sum *= scale;
            for (std::int32_t f = 0; f < k; ++f) out[f] *= scale;
            max = value;
        }
        const float p = std::exp(value - max);
        sum += p;
        if (dropout.keeps(g, e, head)) axpy(out, p, x + source * k, k);
    }
    const float scale = sum > 0.0F ? dropout.keep_scale() / sum : 0.0F;
    for (std::int32_t f = 0; f < k; ++f) out[f] *= scale;
    // A row without edges has no logarithm: it would divide by zero, where an application may trap that.
    if (lse) lse[unit] = sum != 0.0F ? max + std::log(sum) : -std::numeric_limits<float>::infinity();
}

/// Place of the value of position e and a head among values [m, heads] in the caller's edge order.
inline std::int64_t edge_value_at(const CsrFormat& g, std::int32_t e, std::int32_t heads, std::int64_t head) {
    return edge_of(g, e) * heads + head;
}

/// out += sum over the edges of `unit` of value[e, head] from[other end, head, :].
__attribute__((always_inline)) inline void add_weighted(const CsrFormat& g, std::int64_t unit, std::int32_t heads,
                                                        std::int32_t k, const float* value, const float* from,
                                                        float* out) {
    const auto vertex = static_cast<std::int32_t>(unit / heads);
    const std::int64_t head = unit - static_cast<std::int64_t>(vertex) * heads;
    for (std::int32_t e = g.row_ptr[vertex]; e < g.row_ptr[vertex + 1]; ++e) {
        const std::int64_t other = static_cast<std::int64_t>(g.col_idx[e]) * heads + head;
        axpy(out, value[edge_value_at(g, e, heads, head)], from + other * k, k);
    }
}

}  // namespace gnntune::kernels
