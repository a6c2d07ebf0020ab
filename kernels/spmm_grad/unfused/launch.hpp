#pragma once

#include <cstdint>

#include "core/registry/variant.hpp"

namespace gnntune::spmm_grad_unfused {

/// Enqueues what self loops add to grad_x, and their weights' gradients. Throws on a launch error.
void launch_self_loops(std::int64_t n, std::int32_t k, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_grad_unfused
