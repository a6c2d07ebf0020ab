// The store of a `--dry-run`: a copy of the database, which stays as it is.
#pragma once

#include <filesystem>
#include <optional>

#include "profiles/database/file_system.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::tools {

/// A copy of the database at `path`, or an empty one where there is none, in a folder for temporary files that `folder`
/// holds for as long as it lives. Throws ErrorKind::database in words.
store::Store plan_store(const std::filesystem::path& path, std::optional<store::FolderBeside>& folder);

}  // namespace gnntune::tools
