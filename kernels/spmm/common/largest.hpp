// Which of two products a maximum keeps: the larger, a NaN before everything, and of equals (+0 and -0 are) that of the
// lower edge. An order of all pairs, so that the winner does not depend on who meets whom first.
#pragma once

#include <cstdint>
#include <limits>

#include "core/common/host_device.hpp"

namespace gnntune::kernels {

/// Edge of the value with which a maximum begins, -infinity: it loses against every edge.
inline constexpr std::int32_t kNoEdge = std::numeric_limits<std::int32_t>::max();
inline constexpr float kNoProduct = -std::numeric_limits<float>::infinity();

/// Whether `product` of `edge` replaces `largest` of `winner`.
GNNTUNE_HOST_DEVICE inline bool replaces(float product, std::int32_t edge, float largest, std::int32_t winner) {
    const bool is_nan = product != product;
    const bool was_nan = largest != largest;
    const bool ties = (is_nan == was_nan) & !(product < largest) & (edge < winner);
    return (product > largest) | (is_nan & !was_nan) | ties;
}
/// The same where nobody asks which edge it was.
GNNTUNE_HOST_DEVICE inline bool replaces(float product, float largest) {
    return (product > largest) | (product != product);
}

}  // namespace gnntune::kernels
