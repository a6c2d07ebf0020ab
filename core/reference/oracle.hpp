// Double-precision CPU references, one function per op: slow, readable, and the definition of what each op means.
#pragma once

#include <cstdint>
#include <vector>

#include "core/common/host_vector.hpp"
#include "core/graph/types.hpp"
#include "core/reference/tolerance.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::reference {

/// A result with what is needed to judge another one: for each element its value and the scale s = sum of |terms|, and
/// for each row of `row_width` elements the chain length d.
struct Oracle {
    HostVector<double> value;
    HostVector<float> scale;
    HostVector<std::int32_t> chain;
    std::int64_t row_width = 1;
    bool index = false;        ///< the result is int32 and has to be equal
    DType dtype = DType::f32;  ///< in which the result is stored, unless it is int32

    std::int64_t size() const { return static_cast<std::int64_t>(value.size()); }
};

/// Oracles of every output of `problem`, in the order in which arrays_of() lists them. `csr` is the graph in the
/// problem's direction, `edge_id` [m] leads from its positions to the caller's edge order (null: identity), `inputs`
/// has the problem's inputs in host memory, seed_offset among them. `rule`, if any, is the sample that an approximate
/// variant uses: the op is then defined on the sampled rows. Throws ErrorKind::unsupported for an op without an oracle,
/// and for a problem that is not defined on a graph of these sizes.
std::vector<Oracle> oracles(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                            const Operands& inputs, const SampleRule* rule = nullptr);

// One function per op, called by oracles(). Their arguments and results are those of oracles().

/// y[i, f] = sum over edges e of row i of w_e x[col_e, f], plus self_weight[i] x[i, f] with self loops; unweighted, all
/// weights are 1; weighted sums and means of several heads take both weights of the head that f is of. The mean divides
/// by the number of terms, and is 0 for none. The maximum (without self loops) is the largest of the products w_e
/// x[col_e, f], each rounded to fp32 once, and 0 for none; its second result, argmax [n_rows, f], is the edge in the
/// caller's order whose product that is, the first of several, and -1 for none. A NaN is larger than everything, and +0
/// and -0 are equal.
std::vector<Oracle> spmm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                         const Operands& inputs, const SampleRule* rule);
/// y[e, h] = act(s (w_e) <x_row[row_e, h, :], x[col_e, h, :]>) for every edge, with s = product_scale() and act =
/// activation of the inputs.
std::vector<Oracle> sddmm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                          const Operands& inputs);
/// y[e, h] = exp(edge_weight[e, h] - lse), where exp(lse) is the sum of exp(edge_weight[., h]) over the edges of e's
/// row. A logit of -infinity takes no part and gets 0.
std::vector<Oracle> edge_softmax(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                 const Operands& inputs);
/// With e_ij = leaky_relu(score_row[i, h] + score_col[j, h]) and alpha its softmax over the edges of row i (duplicates
/// are terms of their own): y[i, h, :] = sum of alpha~ x[j, h, :], where alpha~ is alpha / (1 - dropout) if the edge is
/// kept, else 0; lse[i, h] = log of the sum of exp(e). An empty row has y = 0, lse = -infinity.
std::vector<Oracle> gat(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                        const Operands& inputs);
/// Gradients of sum(grad_y * y) of gat with respect to x, score_row and score_col.
std::vector<Oracle> gat_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                             const Operands& inputs);

/// y[i, h, :] = sum over edges of row i of alpha x[col, h, :], alpha = softmax over the row of
/// e = beta[h] cos(x_row[i, h, :], x[col, h, :]), the cosine with a zero vector being 0; lse = log of the sum of
/// exp(e), -infinity for an empty row.
std::vector<Oracle> agnn(const Problem& problem, const CsrView& csr, const Operands& inputs);
/// Gradients of agnn with respect to x, x_row and beta from grad_y and what the forward run saved. A zero vector gets
/// none through its cosines.
std::vector<Oracle> agnn_grad(const Problem& problem, const CsrView& csr, const Operands& inputs);
/// y[i, h, :] = sum over edges of row i of alpha~ x[col, h, :], alpha = softmax over the row of
/// e = s <x_row[i, h, :], key[col, h, :]>, s = logit_scale() of the inputs, and alpha~ after dropout as in gat; lse = log
/// of the sum of exp(e), -infinity for an empty row.
std::vector<Oracle> attention(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                              const Operands& inputs);
/// Gradients of attention with respect to x, x_row and key from grad_y and what the forward run saved.
std::vector<Oracle> attention_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                   const Operands& inputs);
/// Gradients of spmm: grad_x[j, f] = sum over edges e with source j of w_e grad_y[row_e, f], plus the self loop's term;
/// weighted, grad_edge_weight[e] = <grad_y[row_e, :], x[col_e, :]>; with self loops, grad_self_weight[i] =
/// <grad_y[i, :], x[i, :]>. Of weighted sums and means of several heads all that is head by head. The mean divides each
/// term by the number of terms of its row. Of a maximum an edge has the features f alone in which argmax_saved[row_e, f]
/// names it, in both sums.
std::vector<Oracle> spmm_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                              const Operands& inputs);
/// With d_i = 1 + sum of the weights of row i (>= 0; unweighted 1): y[e] = w_e / sqrt(d_row d_col), y_self[i] = 1 /
/// d_i. Square graphs.
std::vector<Oracle> gcn_norm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                             const Operands& inputs);

/// The caller's list of edges grouped by row, each row in the order of the list. The three results are equal or wrong.
std::vector<Oracle> coo_to_csr(const CsrView& csr, const std::int32_t* edge_id);
/// The positions of `csr` grouped by column, each column in the order of the positions, so by ascending row.
std::vector<Oracle> csr_to_csc(const CsrView& csr, const std::int32_t* edge_id);

/// How a result compares with an oracle.
struct Comparison {
    double max_error = 0;        ///< largest |y - ref| / s (elements with s > 0)
    double mean_error = 0;       ///< mean of the same
    double worst_ratio = 0;      ///< largest |y - ref| / tolerance; infinite for NaN
    std::int64_t worst_at = -1;  ///< element of worst_ratio
    bool pass() const { return worst_ratio <= 1.0; }
};

/// Compares `y` [oracle.size()], elements of the oracle's dtype (int32 for an index oracle) in host memory;
/// OpenMP-parallel.
Comparison compare(const Oracle& oracle, const void* y, Precision precision);

}  // namespace gnntune::reference
