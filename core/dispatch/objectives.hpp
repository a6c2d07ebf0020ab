// What the same measurements say under other demands: how the choice changes with the number of calls and with the
// error that is allowed. Pure functions of their arguments; thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "core/dispatch/choose.hpp"

namespace gnntune {

/// A candidate that is the cheapest from so many calls on, building counted, until the next range begins.
struct CallsRange {
    double from_calls = 1;
    std::size_t candidate = 0;
};

/// Ranges from one call to any number, among the candidates that the constraints allow; their expected_calls do not
/// matter. By cost alone: the noise is not looked at. Empty if nothing is allowed.
std::vector<CallsRange> calls_ranges(const std::vector<Candidate>& candidates, const Constraints& constraints);

/// A candidate that is chosen once that error is allowed.
struct ErrorPoint {
    double max_error = 0;   ///< smallest Constraints::max_error under which it is chosen; 0: fp32 arithmetic
    bool sampling = false;  ///< and only where dropping edges is allowed
    std::size_t candidate = 0;
};

/// How the choice changes as more error is allowed: first without sampling from no error on, then what sampling adds.
/// The other constraints hold; max_error and allow_sampling of `constraints` do not matter.
std::vector<ErrorPoint> error_front(const std::vector<Candidate>& candidates, Constraints constraints);

}  // namespace gnntune
