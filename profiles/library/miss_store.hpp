// What Sources::tune_on_miss writes to the user's database.
#pragma once

#include "core/registry/graph.hpp"
#include "profiles/library/miss_search.hpp"

namespace gnntune::library {

/// Writes rows and choice as `gnntune tune` does, in one commit, to the database that the context was opened with,
/// which is made if it is not there. Throws Error in words if it cannot be written: waits up to five seconds for other
/// writers.
void store_measured(const Context& context, Graph& graph, const Problem& problem, const Measured& measured);

}  // namespace gnntune::library
