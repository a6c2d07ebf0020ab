// What is said about a plan: lines for people, and one line for programs.
#pragma once

#include <string>

#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// Several lines, each "label      text". All rows of the database are looked at for it.
std::string explain(const Context& context, Graph& graph, const Plan& plan, const Story& story);

/// The line of GNNTUNE_VERBOSE=dispatch, with its newline. docs/dispatcher.md describes the fields.
/// `tuned_us`: what the plan has spent on measuring.
std::string verbose_line(Graph& graph, const Plan& plan, const Story& story, double tuned_us);

}  // namespace gnntune::library
