// The definition of gat_grad.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// Gradients of sum(grad_y * y) of gat with respect to x, score_row and score_col.
std::vector<Oracle> gat_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                             const Operands& inputs);

}  // namespace gnntune::reference
