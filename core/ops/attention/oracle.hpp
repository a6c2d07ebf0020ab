// The definition of attention.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// y[i, h, :] = sum over edges of row i of alpha~ x[col, h, :], alpha = softmax over the row of
/// e = s <x_row[i, h, :], key[col, h, :]>, s = logit_scale() of the inputs, and alpha~ after dropout as in gat; lse = log
/// of the sum of exp(e), -infinity for an empty row.
std::vector<Oracle> attention(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                              const Operands& inputs);

}  // namespace gnntune::reference
