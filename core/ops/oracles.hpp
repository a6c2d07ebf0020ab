// The oracles of a problem, whatever its op is.
#pragma once

#include <cstdint>
#include <vector>

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// Oracles of every output of `problem`, in the order in which arrays_of() lists them. `csr` is the graph in the
/// problem's direction, `edge_id` [m] leads from its positions to the caller's edge order (null: identity), `inputs`
/// has the problem's inputs in host memory, seed_offset among them. `rule`, if any, is the sample that an approximate
/// variant uses: the op is then defined on the sampled rows. Throws ErrorKind::unsupported for a problem that is
/// not defined on a graph of these sizes.
std::vector<Oracle> oracles(const Problem& problem, const CsrView& csr, const std::int32_t* edge_id,
                            const Operands& inputs, const SampleRule* rule = nullptr);

}  // namespace gnntune::reference
