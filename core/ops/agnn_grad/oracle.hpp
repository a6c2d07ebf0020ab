// The definition of agnn_grad.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// Gradients of agnn with respect to x, x_row and beta from grad_y and what the forward run saved. A zero vector gets
/// none through its cosines.
std::vector<Oracle> agnn_grad(const Problem& problem, const CsrView& csr, const Operands& inputs);

}  // namespace gnntune::reference
