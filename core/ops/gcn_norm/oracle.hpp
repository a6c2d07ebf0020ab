// The definition of gcn_norm.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// With d_i = 1 + sum of the weights of row i (>= 0; unweighted 1): y[e] = w_e / sqrt(d_row d_col), y_self[i] = 1 /
/// d_i. Square graphs.
std::vector<Oracle> gcn_norm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                             const Operands& inputs);

}  // namespace gnntune::reference
