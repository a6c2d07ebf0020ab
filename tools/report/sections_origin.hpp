// The last section of a page. Inside this folder only.
#pragma once

#include "tools/report/sections.hpp"

namespace gnntune::tools::report {

/// Where the numbers came from: outcomes, clocks, devices, runs, failures, errata, what was passed over.
Section origin_section(const Report& report);

}  // namespace gnntune::tools::report
