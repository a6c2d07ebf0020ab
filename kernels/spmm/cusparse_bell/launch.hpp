#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_cusparse_bell {

/// A graph as blocked ELL: dense blocks of block_size^2 values, the same number of block columns in every block row.
struct Plan;

/// Builds the blocks' places on the host from the CSR arrays, and for an unweighted graph their values. Synchronises.
std::shared_ptr<const Plan> make_plan(const CsrFormat& csr, int block_size, std::int32_t k, bool weighted,
                                      StreamHandle stream);

/// Bytes for the blocks' values (weighted), for operands padded to whole blocks, and for cuSPARSE's buffer.
std::size_t workspace_bytes(const Plan& plan);

void launch(const Plan& plan, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_cusparse_bell
