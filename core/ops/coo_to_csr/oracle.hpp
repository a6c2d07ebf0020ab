// The definition of coo_to_csr.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// The caller's list of edges grouped by row, each row in the order of the list. The three results are equal or wrong.
std::vector<Oracle> coo_to_csr(const CsrView& csr, const std::int32_t* edge_id);

}  // namespace gnntune::reference
