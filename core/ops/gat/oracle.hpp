// The definition of gat.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// With e_ij = leaky_relu(score_row[i, h] + score_col[j, h]) and alpha its softmax over the edges of row i (duplicates
/// are terms of their own): y[i, h, :] = sum of alpha~ x[j, h, :], where alpha~ is alpha / (1 - dropout) if the edge is
/// kept, else 0; lse[i, h] = log of the sum of exp(e). An empty row has y = 0, lse = -infinity.
std::vector<Oracle> gat(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                        const Operands& inputs);

}  // namespace gnntune::reference
