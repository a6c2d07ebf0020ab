// Databases taken into another, as `db merge` and `db import` do it.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "profiles/store.hpp"
#include "tools/options.hpp"
#include "tools/output.hpp"

namespace gnntune::tools {

/// A database to take in and what it is called in messages.
struct MergeSource {
    std::filesystem::path database;
    std::string name;
};

/// The columns of what merge_into() tells.
Table merge_table();

/// Takes everything of `sources` into `store`, warns of conflicts, and makes the choices again that have new
/// measurements beside them, by the rule and the default constraints. A row for each source.
Table merge_into(store::Store& store, std::span<const MergeSource> sources, const CommonOptions& common, Output& out);

}  // namespace gnntune::tools
