#include <algorithm>
#include <cmath>

#include "core/common/team.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {

Comparison compare(const Oracle& oracle, const void* y, Precision precision) {
    const double constant = operand_constant(precision);
    const Rounding rounding = rounding_of(oracle.dtype);
    Comparison result;
    double error_sum = 0;
    const auto look_at = [&](std::int64_t i, Comparison& seen, double& sum) {
        const auto at = static_cast<std::size_t>(i);
        const double scale = oracle.scale[at];
        const Deviation d = deviation(element(y, i, oracle.dtype, oracle.index), oracle.value[at], scale,
                                      oracle.chain[static_cast<std::size_t>(i / oracle.row_width)], constant, rounding);
        if (scale > 0) {
            sum += d.error / scale;
            seen.max_error = std::max(seen.max_error, d.error / scale);
        }
        if (d.ratio > seen.worst_ratio) {
            seen.worst_ratio = d.ratio;
            seen.worst_at = i;
        }
    };
    if (team_for(oracle.size()) == 1) {
        for (std::int64_t i = 0; i < oracle.size(); ++i) look_at(i, result, error_sum);
        result.mean_error = oracle.size() > 0 ? error_sum / static_cast<double>(oracle.size()) : 0.0;
        return result;
    }
#pragma omp parallel
    {
        Comparison mine;
#pragma omp for reduction(+ : error_sum)
        for (std::int64_t i = 0; i < oracle.size(); ++i) look_at(i, mine, error_sum);
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
