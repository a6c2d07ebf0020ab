#include "core/reference/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gnntune::reference {

Oracle spmm(const CsrView& csr, const float* edge_weight, const std::int32_t* edge_id, const float* x, std::int32_t k) {
    Oracle out;
    out.row_width = k;
    const auto size = static_cast<std::size_t>(csr.n_rows) * static_cast<std::size_t>(k);
    out.value.resize(size);
    out.scale.resize(size);
    out.chain.resize(static_cast<std::size_t>(csr.n_rows));
#pragma omp parallel
    {
        std::vector<double> sum(static_cast<std::size_t>(k));
        std::vector<double> scale(static_cast<std::size_t>(k));
#pragma omp for schedule(dynamic, 64)
        for (std::int32_t i = 0; i < csr.n_rows; ++i) {
            sum.assign(sum.size(), 0.0);
            scale.assign(scale.size(), 0.0);
            for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
                const double w = edge_weight ? edge_weight[edge_id ? edge_id[e] : e] : 1.0;
                const float* row = x + static_cast<std::int64_t>(csr.col_idx[e]) * k;
                for (std::size_t f = 0; f < sum.size(); ++f) {
                    const double term = w * row[f];
                    sum[f] += term;
                    scale[f] += std::abs(term);
                }
            }
            const auto base = static_cast<std::size_t>(i) * static_cast<std::size_t>(k);
            for (std::size_t f = 0; f < sum.size(); ++f) {
                out.value[base + f] = sum[f];
                out.scale[base + f] = static_cast<float>(scale[f]);
            }
            out.chain[static_cast<std::size_t>(i)] = csr.row_ptr[i + 1] - csr.row_ptr[i];
        }
    }
    return out;
}

Oracle sddmm(const CsrView& csr, const float* edge_weight, const std::int32_t* edge_id, const float* x_row,
             const float* x, std::int32_t k) {
    Oracle out;
    const auto m = static_cast<std::size_t>(csr.m);
    out.value.resize(m);
    out.scale.resize(m);
    out.chain.assign(m, k);
#pragma omp parallel for schedule(dynamic, 64)
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        for (std::int32_t e = csr.row_ptr[i]; e < csr.row_ptr[i + 1]; ++e) {
            const auto id = static_cast<std::size_t>(edge_id ? edge_id[e] : e);
            const float* a = x_row + static_cast<std::int64_t>(i) * k;
            const float* b = x + static_cast<std::int64_t>(csr.col_idx[e]) * k;
            double sum = 0;
            double scale = 0;
            for (std::int32_t f = 0; f < k; ++f) {
                const double term = static_cast<double>(a[f]) * b[f];
                sum += term;
                scale += std::abs(term);
            }
            const double w = edge_weight ? edge_weight[id] : 1.0;
            out.value[id] = w * sum;
            out.scale[id] = static_cast<float>(std::abs(w) * scale);
        }
    }
    return out;
}

Comparison compare(const Oracle& oracle, const float* y, Precision precision) {
    Comparison result;
    double error_sum = 0;
#pragma omp parallel
    {
        Comparison mine;
#pragma omp for reduction(+ : error_sum)
        for (std::int64_t i = 0; i < oracle.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const double scale = oracle.scale[at];
            const double error = std::abs(static_cast<double>(y[at]) - oracle.value[at]);
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
