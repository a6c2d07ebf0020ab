#include "core/registry/sampled.hpp"

#include <algorithm>

namespace gnntune {
namespace {

const auto& degrees_of(const Query& q) {
    const auto& counts = q.features->counts;
    return q.problem.direction == Direction::forward ? counts.row_degrees : counts.col_degrees;
}

}  // namespace

double sampled_edges(const Query& q, const SampleRule& rule) {
    if (!q.features) return std::min(static_cast<double>(q.m), static_cast<double>(q.n_rows) * rule.width);
    double kept = 0;
    for (const auto& [degree, rows] : degrees_of(q)) kept += static_cast<double>(rows) * sampled_count(rule, degree);
    return kept;
}

std::int32_t most_kept(const Query& q, const SampleRule& rule) {
    if (!q.features) return rule.width;
    return degrees_of(q).empty() ? 0 : sampled_count(rule, degrees_of(q).back().first);
}

}  // namespace gnntune
