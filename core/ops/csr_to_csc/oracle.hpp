// The definition of csr_to_csc.
#pragma once

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// The positions of `csr` grouped by column, each column in the order of the positions, so by ascending row.
std::vector<Oracle> csr_to_csc(const CsrView& csr, const std::int32_t* edge_id);

}  // namespace gnntune::reference
