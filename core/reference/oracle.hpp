// Double-precision CPU references, one function per op: slow, readable, and the definition of what each op means.
#pragma once

#include <cstdint>

#include "core/common/host_vector.hpp"
#include "core/graph/types.hpp"
#include "core/reference/tolerance.hpp"
#include "core/registry/op.hpp"

namespace gnntune::reference {

/// A result with what is needed to judge another one: for each element its value and the scale s = sum of |terms|, and
/// for each row of `row_width` elements the chain length d.
struct Oracle {
    HostVector<double> value;
    HostVector<float> scale;
    HostVector<std::int32_t> chain;
    std::int64_t row_width = 1;

    std::int64_t size() const { return static_cast<std::int64_t>(value.size()); }
};

/// y[i, f] = sum over edges e of row i of w_e x[col_e, f]. `csr` is the graph in the problem's direction, its weights in
/// `edge_weight` [m] (null: all ones), `edge_id` [m] leads from CSR positions to weights (null: identity). x is
/// [n_cols, k].
Oracle spmm(const CsrView& csr, const float* edge_weight, const std::int32_t* edge_id, const float* x, std::int32_t k);

/// y[e] = (w_e) * <x_row[row_e, :], x[col_e, :]> for every edge, in weight order (through `edge_id`).
Oracle sddmm(const CsrView& csr, const float* edge_weight, const std::int32_t* edge_id, const float* x_row,
             const float* x, std::int32_t k);

/// How a result compares with an oracle.
struct Comparison {
    double max_error = 0;     ///< largest |y - ref| / s (elements with s > 0)
    double mean_error = 0;    ///< mean of the same
    double worst_ratio = 0;   ///< largest |y - ref| / tolerance; infinite for NaN
    std::int64_t worst_at = -1;  ///< element of worst_ratio
    bool pass() const { return worst_ratio <= 1.0; }
};

/// Compares `y` [oracle.size()] in host memory; OpenMP-parallel.
Comparison compare(const Oracle& oracle, const float* y, Precision precision);

}  // namespace gnntune::reference
