// Problems that do not fit into memory are left out, and the others go on.
#pragma once

#include <functional>
#include <string>

#include "tools/common/output.hpp"

namespace gnntune::tools {

/// The warning that `what` (graph and problem) was left out.
void warn_left_out(const std::string& what, const std::string& why, Output& out);
/// Does `work`. False, and a warning, if memory runs out in it.
bool within_memory(const std::string& what, Output& out, const std::function<void()>& work);

}  // namespace gnntune::tools
