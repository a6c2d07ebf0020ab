// `explain --step`: what is chosen for a whole training step on a graph of the database.
#pragma once

#include "core/dispatch/step.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// Returns the exit code.
int explain_step(const store::Store& store, const store::GraphRow& graph, const Step& step, const Parsed& parsed,
                 const Device& here, Output& out);

}  // namespace gnntune::tools
