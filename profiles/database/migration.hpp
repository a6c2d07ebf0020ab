// Schema versions: numbered, forward-only scripts. user_version of a file is the number of the last script it has run.
//
// A released script never changes. A new version is a new file profiles/schema/NNNN_words.sql; scripts run with foreign
// keys off, inside one transaction with the version number, so a file has all of a script or nothing of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "profiles/database/database.hpp"

namespace gnntune::store {

/// 'GNNT' in the header of every gnntune database.
inline constexpr std::int64_t kApplicationId = 0x474e4e54;

struct Migration {
    int version;  ///< 1, 2, 3 ... without gaps
    std::string_view name;
    std::string_view sql;
};

/// The scripts of profiles/schema, compiled in.
std::span<const Migration> shipped_migrations();

/// Schema number that a list of migrations leads to.
int schema_version(std::span<const Migration> migrations);

/// Whether a file of schema `found` can be read as it is: later scripts only add tables, which count as empty. Their
/// names begin with "adds" behind the number.
bool can_be_read(std::int64_t found, std::span<const Migration> migrations);

/// Throws ErrorKind::database in words unless the file is a gnntune database of this schema or an older one, or empty
/// (a file just being created).
void require_known(const Database& database, std::span<const Migration> migrations);

/// Brings the file to the newest version. An older file that holds a schema is copied first, to
/// "<path>.schema-<old>.backup" (a number is added if that exists). Returns the path of the copy, or an empty path.
/// Safe against several processes doing so at once: one migrates, the others wait and find it done.
std::filesystem::path migrate(const Database& database, std::span<const Migration> migrations);

}  // namespace gnntune::store
