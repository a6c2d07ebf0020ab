#include <algorithm>
#include <cmath>

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

Comparison compare(const Oracle& oracle, const void* y, Precision precision) {
    const auto* floats = static_cast<const float*>(y);
    const auto* indices = static_cast<const std::int32_t*>(y);
    Comparison result;
    double error_sum = 0;
#pragma omp parallel
    {
        Comparison mine;
#pragma omp for reduction(+ : error_sum)
        for (std::int64_t i = 0; i < oracle.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double expected = oracle.value[at];
            const double got = oracle.index ? static_cast<double>(indices[at]) : static_cast<double>(floats[at]);
            const double scale = oracle.scale[at];
            // Equal first: infinities (the log-sum-exp of an empty row) have no difference.
            const double error = got == expected ? 0.0 : std::abs(got - expected);
            const double d = oracle.chain[static_cast<std::size_t>(i / oracle.row_width)];
            double ratio = error / (scale * relative_tolerance(precision, d) + kTiny);
            if (std::isnan(ratio)) ratio = INFINITY;
            if (scale > 0) {
                const double relative = std::isnan(error) ? INFINITY : error / scale;
                error_sum += relative;
                mine.max_error = std::max(mine.max_error, relative);
            }
            if (ratio > mine.worst_ratio) {
                mine.worst_ratio = ratio;
                mine.worst_at = i;
            }
        }
#pragma omp critical
        {
            result.max_error = std::max(result.max_error, mine.max_error);
            if (mine.worst_ratio > result.worst_ratio) {
                result.worst_ratio = mine.worst_ratio;
                result.worst_at = mine.worst_at;
            }
        }
    }
    result.mean_error = oracle.size() > 0 ? error_sum / static_cast<double>(oracle.size()) : 0.0;
    return result;
}

}  // namespace gnntune::reference
