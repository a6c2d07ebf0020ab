// A graph of the database, had again from where its row says that it came from.
#pragma once

#include "profiles/store/store.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// Reads or generates the graph by the first of the row's sources that still gives its fingerprint: a file, with the
/// fix-ups that are noted behind its path, or a generator's recipe. Throws ErrorKind::input in words, with what became
/// of each source, if none does.
InputGraph graph_again(const store::GraphRow& row, Output& out);

}  // namespace gnntune::tools
