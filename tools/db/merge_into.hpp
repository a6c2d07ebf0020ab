// Databases taken into another, as `db merge` and `db import` do it.
#pragma once

#include <exception>
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

/// Throws ErrorKind::database in words if the file is damaged, or has rows that this build does not take in.
void require_mergeable(const std::filesystem::path& from);

/// What came of the sources, up to the first that is refused.
struct Merged {
    Table table = merge_table();
    std::int64_t measurements = 0;  ///< that are new
    std::exception_ptr refused;     ///< null: none was
};

/// Takes everything of `sources` into `store`, warns of conflicts, and makes the choices again that have new
/// measurements beside them, by the rule and `constraints`.
Merged take_in(store::Store& store, std::span<const MergeSource> sources, const Constraints& constraints,
               const CommonOptions& common, Output& out);
/// take_in() with a row printed for each source. One that is refused ends it: those before it are in, with their choices,
/// and printed when its error is thrown.
void merge_into(store::Store& store, std::span<const MergeSource> sources, const Constraints& constraints,
                const CommonOptions& common, Output& out);

/// Whether the rows of a config may be taken in, for Store::merge and import_document.
std::optional<std::string> merge_check(const Config& config, std::int32_t version, bool untaken);

}  // namespace gnntune::tools
