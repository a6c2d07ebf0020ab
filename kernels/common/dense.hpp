// A graph as a dense array: for whom it can pay, how it lies in memory, and what a product with it moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "kernels/common/cublas.hpp"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Elements from one row of a dense n_rows x n_cols array to the next: whole 32-byte sectors.
inline std::int64_t dense_stride(std::int64_t n_cols) {
    return ceil_div(n_cols, 8) * 8;
}
/// Bytes of the array, padding included; as a double, since sizes of large graphs leave 64 bits.
inline double dense_bytes(const Query& q) {
    return 4.0 * static_cast<double>(q.n_rows) * static_cast<double>(dense_stride(q.n_cols));
}
/// Cells of the array that edges may fill.
inline double dense_cells(const Query& q) {
    return static_cast<double>(q.n_rows) * static_cast<double>(q.n_cols);
}

// An edge costs a sparse kernel 4 k bytes of gathering, a cell costs a product 2 k flops. At B bytes/s from L2 and F
// flop/s both take as long where edges per cell are B / (2 F): with 7e12 and 6e13, an H200 in fp32, 1 in 17. A quarter
// of that is left to sparse kernels that stay below their bound by as much. TF32 has eight times the flops.
inline constexpr double kLeastDensity = 1.0 / 64;
inline constexpr double kLeastDensityTf32 = 1.0 / 512;

/// Refuses graphs for which a product with every cell cannot pay or does not fit, and machines without cuBLAS.
inline Verdict require_dense(const Query& q, Precision precision) {
    if (q.m == 0 || q.n_rows == 0 || q.n_cols == 0) return Verdict::no("an empty matrix has no dense product");
    const double least = precision == Precision::tf32 ? kLeastDensityTf32 : kLeastDensity;
    const double density = static_cast<double>(q.m) / dense_cells(q);
    if (density < least) {
        char text[160];
        std::snprintf(text, sizeof text,
                      "%.3g %% of the cells have an edge: below %.3g %% multiplying all of them cannot pay",
                      100 * density, 100 * least);
        return Verdict::no(text);
    }
    const std::int64_t memory = q.device->environment.memory_bytes;  // 0: unknown
    if (memory > 0 && dense_bytes(q) > static_cast<double>(memory) / 4) {
        char text[160];
        std::snprintf(text, sizeof text, "the dense matrix of %.3g GiB is over a quarter of the device's memory",
                      dense_bytes(q) / (1 << 30));
        return Verdict::no(text);
    }
    if (dense_stride(q.n_cols) > std::numeric_limits<std::int32_t>::max()) {
        return Verdict::no("a dense row of " + std::to_string(q.n_cols) + " columns is longer than cuBLAS takes");
    }
    return find_cublas(precision);
}

/// Terms of one product of rows x inner and inner x cols by tiles of 128 x 128 results, each operand read from L2 by
/// every tile that needs it. `operands` and `results` are bytes that come from and go to memory.
inline CostTerms product_cost(double rows, double cols, double inner, double operands, double results) {
    const auto padded = [](double n) { return n <= 1 ? n : std::ceil(n / 32) * 32; };  // of the smallest tiles
    const double row_tiles = std::ceil(rows / 128);
    const double col_tiles = std::ceil(cols / 128);
    CostTerms terms;
    terms.dram_bytes = operands + results;
    terms.l2_bytes = 4.0 * inner * (rows * col_tiles + cols * row_tiles) + results;
    terms.flops = 2.0 * padded(rows) * padded(cols) * inner;
    return terms;
}

}  // namespace gnntune::kernels
