// What variants that take a maximum can do.
#pragma once

#include <string>

#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// A maximum over the caller's edges. A self loop would have no place among those that argmax names.
inline Verdict require_max(const Query& q) {
    if (q.problem.reduce != Reduce::max) {
        return Verdict::no("reduces by max only, " + std::string(to_text(q.problem.reduce)) + " was asked for");
    }
    return require_no_self_loops(q);
}

}  // namespace gnntune::kernels
