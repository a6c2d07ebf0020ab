// The readers and the writer behind core/io/wide_graph.hpp.
#pragma once

#include <optional>
#include <string>

#include "core/io/detail/output.hpp"
#include "core/io/detail/readers.hpp"
#include "core/io/wide_graph.hpp"

namespace gnntune::io::detail {

WideCsrGraph read_wide_gnng(const Input& input, const ReadOptions& options);
/// Nothing where the archive holds a graph in another layout than CSR.
std::optional<WideCsrGraph> read_wide_npz(const Input& input, const ReadOptions& options);
void write_wide_gnng(Output& out, const WideCsrGraph& graph);

/// Throws ErrorKind::input, with the file's name, where the arrays break CSR's rules.
void check_wide(const WideCsrGraph& graph, const std::string& name);

}  // namespace gnntune::io::detail
