// What is said about a plan: lines for people, and one line for programs.
#pragma once

#include <string>

#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// Several lines, each "label      text".
std::string explain(const Context& context, Graph& graph, const Request& request, const Outcome& outcome);

/// The line of GNNTUNE_VERBOSE=dispatch, with its newline. docs/dispatcher.md describes the fields.
std::string verbose_line(Graph& graph, const Request& request, const Outcome& outcome);

}  // namespace gnntune::library
