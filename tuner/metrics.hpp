// Which metrics of CUPTI make the counters that are kept. Names only: what knows CUPTI is in range_profiler.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/registry/counters.hpp"

namespace gnntune::tuner {

/// Every metric that some counter is made of. A chip may lack any of them.
std::vector<std::string> metric_names();

/// The counters that the metrics with a value make.
Counters counters_from(const std::map<std::string, double>& values);

}  // namespace gnntune::tuner
