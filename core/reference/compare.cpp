#include <algorithm>
#include <cmath>

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

Comparison compare(const Oracle& oracle, const void* y, Precision precision) {
    const double constant = operand_constant(precision);
    const Rounding rounding = rounding_of(oracle.dtype);
    Comparison result;
    double error_sum = 0;
#pragma omp parallel
    {
        Comparison mine;
#pragma omp for reduction(+ : error_sum)
        for (std::int64_t i = 0; i < oracle.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double scale = oracle.scale[at];
            const Deviation d =
                deviation(element(y, i, oracle.dtype, oracle.index), oracle.value[at], scale,
                          oracle.chain[static_cast<std::size_t>(i / oracle.row_width)], constant, rounding);
            if (scale > 0) {
                error_sum += d.error / scale;
                mine.max_error = std::max(mine.max_error, d.error / scale);
            }
            if (d.ratio > mine.worst_ratio) {
                mine.worst_ratio = d.ratio;
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
