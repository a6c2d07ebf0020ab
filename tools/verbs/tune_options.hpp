// The options of gnntune tune.
#pragma once

#include "tools/common/options.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {

Options tune_options();

/// How much is measured, and by what numbers: again, every config or so many at most, the seed.
void read_extent(const Parsed& parsed, tuner::TuneOptions& tune);

}  // namespace gnntune::tools
