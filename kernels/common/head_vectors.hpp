// How many vectors the features of a head are.
#pragma once

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Vectors of a head, rounded up to a power of two.
inline std::int32_t head_vectors(const Problem& p) {
    return next_power_of_two(static_cast<std::int32_t>(ceil_div(p.k, widest_vector(p))));
}

}  // namespace gnntune::kernels
