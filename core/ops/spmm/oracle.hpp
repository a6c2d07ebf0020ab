// The definition of spmm.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// y[i, f] = sum over edges e of row i of w_e x[col_e, f], plus self_weight[i] x[i, f] with self loops; unweighted, all
/// weights are 1; weighted sums and means of several heads take both weights of the head that f is of. The mean divides
/// by the number of terms, and is 0 for none. The maximum (without self loops) is the largest of the products w_e
/// x[col_e, f], each rounded to fp32 once, and 0 for none; its second result, argmax [n_rows, f], is the edge in the
/// caller's order whose product that is, the first of several, and -1 for none. A NaN is larger than everything, and +0
/// and -0 are equal.
std::vector<Oracle> spmm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                         const Operands& inputs, const SampleRule* rule);

}  // namespace gnntune::reference
