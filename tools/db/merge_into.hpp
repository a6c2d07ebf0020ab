// Databases taken into another, as `db merge` and `db import` do it.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "profiles/store/store.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// A database to take in and what it is called in messages.
struct MergeSource {
    std::filesystem::path database;
    std::string name;
};

/// The columns of what merge_into() tells.
Table merge_table();

/// Takes everything of `sources` into `store`, warns of conflicts, and makes the choices again that have new
/// measurements beside them, by the rule and the default constraints. Prints a row for each source. One that is refused
/// ends it: those before it are in, with their choices, and printed when its error is thrown.
void merge_into(store::Store& store, std::span<const MergeSource> sources, const CommonOptions& common, Output& out);

/// Whether the rows of a config may be taken in, for Store::merge and import_document.
std::optional<std::string> merge_check(const Config& config, std::int32_t version, bool untaken);

}  // namespace gnntune::tools
