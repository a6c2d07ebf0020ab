// A database whose warnings are the verb's.
#pragma once

#include <filesystem>

#include "profiles/store/store.hpp"
#include "tools/output.hpp"

namespace gnntune::tools {

/// With the versions of variants that this program has.
store::OpenOptions options_here();

/// `out` outlives the store. Throws ErrorKind::database in words, as Store::open.
/// A database that came with the installation is not opened to write.
store::Store open_store(const std::filesystem::path& path, store::Mode mode, Output& out);
store::Store open_store(const std::filesystem::path& path, store::Mode mode, store::OpenOptions options);

}  // namespace gnntune::tools
