// What an oracle says of a result: a sentence for the first or worst element that is wrong, empty if none is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/reference/oracle.hpp"

namespace gnntune::conformance {

/// Every element within the tolerance of `precision`.
std::string wrong_by_tolerance(const reference::Oracle& oracle, const std::vector<std::uint8_t>& result,
                               Precision precision);

/// The same where NaNs and infinities are expected, and have to be there.
std::string wrong_with_infinities(const reference::Oracle& oracle, const std::vector<std::uint8_t>& result,
                                  Precision precision);

/// Every element equal, of inputs that are small integers: as long as the sum of |terms| is a number that the arithmetic
/// counts to, every product and every partial sum is exact, in any order, and nothing is left to round but the result.
/// Elements with a larger sum of |terms| are held to the tolerance.
std::string wrong_of_integers(const reference::Oracle& oracle, const std::vector<std::uint8_t>& result,
                              Precision precision);

}  // namespace gnntune::conformance
