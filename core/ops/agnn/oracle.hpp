// The definition of agnn.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// y[i, h, :] = sum over edges of row i of alpha x[col, h, :], alpha = softmax over the row of
/// e = beta[h] cos(x_row[i, h, :], x[col, h, :]), the cosine with a zero vector being 0; lse = log of the sum of
/// exp(e), -infinity for an empty row.
std::vector<Oracle> agnn(const Problem& problem, const CsrView& csr, const Operands& inputs);

}  // namespace gnntune::reference
