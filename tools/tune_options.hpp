// The options of gnntune tune.
#pragma once

#include "tools/options.hpp"

namespace gnntune::tools {

Options tune_options();

}  // namespace gnntune::tools
