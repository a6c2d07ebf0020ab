// A database whose warnings are the verb's.
#pragma once

#include <filesystem>

#include "profiles/store/store.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// With the versions of variants that this program has.
store::OpenOptions options_here();

/// `out` outlives the store. Throws ErrorKind::database in words, as Store::open.
/// A database that came with the installation is not opened to write.
store::Store open_store(const std::filesystem::path& path, store::Mode mode, Output& out);
store::Store open_store(const std::filesystem::path& path, store::Mode mode, store::OpenOptions options);
/// The database of --db for reading. Throws ErrorKind::database in words if it is missing or no gnntune database.
store::Store open_for_reading(const CommonOptions& common, Output& out);

}  // namespace gnntune::tools
