// The definition of attention_grad.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// Gradients of attention with respect to x, x_row and key from grad_y and what the forward run saved.
std::vector<Oracle> attention_grad(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                                   const Operands& inputs);

}  // namespace gnntune::reference
