// Wall time since a moment.
#pragma once

#include <chrono>

namespace gnntune {

using Instant = std::chrono::steady_clock::time_point;

inline double us_since(Instant begin) {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace gnntune
