// The definition of example_degree.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// y_self[i] = sum of the weights of the edges of row i; unweighted, their number.
std::vector<Oracle> example_degree(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                   const Operands& inputs);

}  // namespace gnntune::reference
