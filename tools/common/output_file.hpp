// The file that a verb is asked to write.
#pragma once

#include <filesystem>

#include "tools/common/options.hpp"

namespace gnntune::tools {

/// Throws ErrorKind::invalid_argument if a file written to `path` would take the place of the verb's database, of any
/// other SQLite database, or of what SQLite keeps beside one. `-` is standard output. Every verb that writes a file asks
/// this before its work.
void require_no_database(const std::filesystem::path& path, const CommonOptions& common);

}  // namespace gnntune::tools
