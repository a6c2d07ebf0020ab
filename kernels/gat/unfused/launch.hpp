#pragma once

#include "kernels/common/unfused_gat.hpp"

namespace gnntune::gat_unfused {

/// Places of the parts.
enum PartIndex : std::size_t { kSoftmax, kSpmm };

using State = kernels::UnfusedGatState;

std::size_t workspace_bytes(const State& state);

/// Enqueues one run. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gat_unfused
