// Writing a graph as a verb does it: format by name or option, then one row that says what was written.
#pragma once

#include <string>

#include "core/graph/types.hpp"
#include "core/io/graph_io.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// The format that --to names, else the one that the file's name says.
/// Throws ErrorKind::invalid_argument where neither says.
io::Format output_format(const std::string& path, const Parsed& parsed);

/// Writes the graph and prints name, format, sizes, fingerprint and file; of `-`, standard output, in a note on stderr.
void write_and_report(const std::string& path, io::Format format, const CsrGraph& graph, const std::string& name,
                      Output& out);

}  // namespace gnntune::tools
