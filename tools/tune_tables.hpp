// What tune prints: the plan of --dry-run, the choices, and why there is none.
#pragma once

#include <string>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "tools/table.hpp"

namespace gnntune::tools {

Table plan_table();
Table result_table();
/// Why nothing was chosen, with what keeps each variant from it.
std::string why_unchosen(const Decision& decision, const std::vector<Candidate>& candidates);

}  // namespace gnntune::tools
