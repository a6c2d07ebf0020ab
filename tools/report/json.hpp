// The numbers of a report as JSON: what other programs draw the same figures from.
#pragma once

#include "tools/common/table.hpp"
#include "tools/report/data.hpp"

namespace gnntune::tools::report {

/// One object; docs/report.md has its members. Numbers are not rounded.
Json json_of(const Report& report);

}  // namespace gnntune::tools::report
