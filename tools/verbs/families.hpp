// The families of a corpus of graphs: data/corpus.csv, or a file of one's own.
#pragma once

#include <map>
#include <string>

namespace gnntune::tools {

/// Family of each graph, by the graph's name, from a CSV (RFC 4180) whose header names the columns `name` and `family`.
/// Throws ErrorKind::input with the line where a column or a field is missing, or a graph stands twice.
std::map<std::string, std::string> read_families(const std::string& path);

}  // namespace gnntune::tools
