// gnntune eval --retunings: whether tuning again chooses the same.
#pragma once

#include "tools/common/options.hpp"

namespace gnntune::tools {

/// Prints a row for each op and way of deciding. Throws ErrorKind::invalid_argument for fewer than two databases, and
/// ErrorKind::input if they have no problem in common.
int eval_retunings(const Parsed& parsed);

}  // namespace gnntune::tools
