// Facts about this program and this call of it.
#pragma once

#include <string>
#include <vector>

#include "core/registry/registry.hpp"

namespace gnntune::tools {

/// "0.1.0"
const char* version();
/// Commit it was built from, "-dirty" behind it if the tree had changes; empty outside a checkout.
const char* git_commit();
/// "Release", "GNU 12.2.0" and "13.0" (empty without CUDA).
const char* build_type();
const char* compiler();
const char* cuda_toolkit();

/// The name of this machine.
std::string host_name();

/// Every variant of this build.
const Registry& registry();

/// The command line of this call, quoted so that it can be typed again.
const std::string& command_line();
/// Called once by main().
void set_command_line(const std::vector<std::string>& words);

}  // namespace gnntune::tools
