// Costs of dot-product attention, which gathers two rows for an edge and head where attention over features of one kind
// gathers one.
#pragma once

#include "kernels/common/attention.hpp"

namespace gnntune::kernels {

/// Every edge gathers a row of keys and a row of values; queries, results and log-sum-exps move in order.
inline CostTerms dot_attention_cost(const Query& q, double index_bytes) {
    // The gather of values has the result in it, and that of keys the queries in the same place.
    const CostTerms one = gather_cost(q, 0.0);
    CostTerms terms;
    terms.dram_bytes = index_bytes + 2.0 * one.dram_bytes + 4.0 * static_cast<double>(q.n_rows) * q.problem.heads;
    terms.l2_bytes = index_bytes + 2.0 * one.l2_bytes;
    terms.flops = 2.0 * one.flops;
    return terms;
}

/// The gradients: an edge gathers rows of key and x for its target, and rows of x_row and grad_y for its source.
inline CostTerms dot_attention_grad_cost(const Query& q, double index_bytes) {
    CostTerms terms = dot_attention_cost(q, index_bytes);
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k * q.problem.heads;
    terms.l2_bytes += 2.0 * static_cast<double>(q.m) * row_bytes;
    // Besides x_row and grad_x_row: grad_y, y, and x_row and grad_y gathered; x, key and their gradients in order.
    terms.dram_bytes += (4.0 * static_cast<double>(q.n_rows) + 4.0 * static_cast<double>(q.n_cols)) * row_bytes;
    terms.flops *= 3.5;  // two dot products and a sum for rows, two and two for columns
    return terms;
}

}  // namespace gnntune::kernels
