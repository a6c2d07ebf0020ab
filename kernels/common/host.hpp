// Small things that the host side of many variants shares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// Widest vector (a power of two of elements of `element_bytes`), at most `wanted`, with which rows of `k` elements at
/// these pointers can be accessed. Null pointers do not count.
inline int vector_width(std::int32_t k, std::initializer_list<const void*> pointers, int wanted = 4,
                        std::size_t element_bytes = sizeof(float)) {
    int width = wanted;
    while (width > 1) {
        bool fits = k % width == 0;
        for (const void* p : pointers) {
            fits = fits && reinterpret_cast<std::uintptr_t>(p) % (element_bytes * static_cast<std::size_t>(width)) == 0;
        }
        if (fits) break;
        width /= 2;
    }
    return width;
}

/// Widest vector of at most 16 bytes that rows of the problem's k elements allow.
inline int widest_vector(const Problem& problem) {
    const std::size_t element_bytes = size_of(problem.dtype);
    return vector_width(problem.k, {}, static_cast<int>(16 / element_bytes), element_bytes);
}

/// Whether that is 16 bytes: narrower ones have fewer shapes.
inline bool whole_vectors(const Problem& problem) {
    return widest_vector(problem) * size_of(problem.dtype) == 16;
}

/// What a sum of `terms` is multiplied with to become their mean; 1 for none, whose sum is 0.
inline float mean_factor(std::int64_t terms) {
    return terms > 0 ? 1.0F / static_cast<float>(terms) : 1.0F;
}

/// Refuses block shapes whose shared memory the device does not have.
inline Verdict require_shared_memory(const Query& q, std::int64_t bytes) {
    const std::int64_t limit = q.device ? q.device->shared_memory_per_block : 0;
    if (limit > 0 && bytes > limit) {
        return Verdict::no("needs " + std::to_string(bytes) + " bytes of shared memory for a block, this device has " +
                           std::to_string(limit));
    }
    return Verdict::yes();
}

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// Blocks of `threads` threads that have one for each of n.
inline unsigned blocks_for(std::int64_t n, int threads) {
    return static_cast<unsigned>(ceil_div(n, threads));
}

/// For x up to 2^30.
inline std::int32_t next_power_of_two(std::int32_t x) {
    std::int32_t p = 1;
    while (p < x) p *= 2;
    return p;
}

/// Features of a row, of all heads together.
inline std::int64_t row_width(const Problem& p) {
    return std::int64_t{p.k} * p.heads;
}

/// Refuses what cuSPARSE takes for no matrix: an empty one, and one with more entries than places, which duplicate
/// edges of a small graph make.
inline Verdict require_cusparse_matrix(const Query& q) {
    if (q.m == 0 || q.n_rows == 0 || q.n_cols == 0) return Verdict::no("cuSPARSE takes no empty matrix");
    if (q.m > q.n_rows * q.n_cols) {
        return Verdict::no("cuSPARSE takes no matrix with more entries (" + std::to_string(q.m) + ") than places (" +
                           std::to_string(q.n_rows * q.n_cols) + ")");
    }
    return Verdict::yes();
}

/// Most thread blocks along y.
inline constexpr std::int64_t kMaxGridY = 65535;

/// Refuses a grid that CUDA cannot launch. `blocks` counts along x.
inline Verdict require_grid(std::int64_t blocks) {
    if (blocks > std::numeric_limits<std::int32_t>::max()) {
        return Verdict::no("would need " + std::to_string(blocks) + " thread blocks, more than 2^31-1");
    }
    return Verdict::yes();
}

/// Bytes of a row of argmax; 0 but for a maximum.
inline double argmax_row_bytes(const Query& q) {
    return q.problem.reduce == Reduce::max ? 4.0 * q.problem.k * q.problem.heads : 0.0;
}

/// Rows that are gathered for self loops, one for each vertex; 0 without them.
inline double loop_rows(const Query& q) {
    return q.problem.self_loop ? static_cast<double>(q.n_rows) : 0.0;
}

/// Terms of a kernel that gathers one row of the dense operand per edge and writes every result row once.
/// `index_bytes` is what it reads of the graph.
inline CostTerms gather_cost(const Query& q, double index_bytes) {
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * q.problem.heads;
    const double gathers = static_cast<double>(q.m) + loop_rows(q);
    const double gather = gathers * row_bytes;
    const double out = static_cast<double>(q.n_rows) * row_bytes;
    const double compulsory = std::min(static_cast<double>(q.n_cols), gathers) * row_bytes;
    double expected = compulsory;
    if (q.features && q.device && q.problem.direction == Direction::forward) {
        const double hit =
            expected_l2_hit_rate(q.features->counts, static_cast<std::int64_t>(row_bytes), q.device->l2_bytes);
        const double distinct = std::max(static_cast<double>(q.features->distinct_cols), loop_rows(q));
        expected = std::max(distinct * row_bytes, gather * (1.0 - hit));
    }
    CostTerms terms;
    terms.dram_bytes = index_bytes + expected + out;
    terms.l2_bytes = index_bytes + gather + out;
    terms.flops = 2.0 * gathers * q.problem.k * q.problem.heads;
    return terms;
}

/// Classes of the degrees of the rows that results have; nothing where features are unknown.
inline const std::vector<DegreeClass>& row_classes(const Query& q) {
    static const std::vector<DegreeClass> kNone;
    if (!q.features) return kNone;
    return q.problem.direction == Direction::forward ? q.features->row_classes : q.features->col_classes;
}
inline const std::vector<DegreeClass>& col_classes(const Query& q) {
    Query flipped = q;
    flipped.problem.direction = opposite(q.problem.direction);
    return row_classes(flipped);
}

/// Bytes of one edge's weight, of all heads that have one; 0 if there are none.
inline double weight_bytes(const Query& q) {
    return q.problem.weighted ? static_cast<double>(size_of(q.problem.dtype)) * weight_heads(q.problem) : 0.0;
}
/// Bytes of a CSR or COO graph with the weights that the problem uses.
inline double csr_bytes(const Query& q) {
    return static_cast<double>(q.m) * (4.0 + weight_bytes(q)) + 4.0 * (static_cast<double>(q.n_rows) + 1);
}
inline double coo_bytes(const Query& q) {
    return static_cast<double>(q.m) * (8.0 + weight_bytes(q));
}

}  // namespace gnntune::kernels
