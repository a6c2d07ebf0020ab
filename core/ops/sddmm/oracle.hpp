// The definition of sddmm.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// y[e, h] = act(s (w_e) <x_row[row_e, h, :], x[col_e, h, :]>) for every edge, with s = product_scale() and act =
/// activation of the inputs.
std::vector<Oracle> sddmm(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                          const Operands& inputs);

}  // namespace gnntune::reference
