// The definition of edge_softmax.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// y[e, h] = exp(edge_weight[e, h] - lse), where exp(lse) is the sum of exp(edge_weight[., h]) over the edges of e's
/// row. A logit of -infinity takes no part and gets 0.
std::vector<Oracle> edge_softmax(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                 const Operands& inputs);

}  // namespace gnntune::reference
