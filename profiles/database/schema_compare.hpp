// The schema that a file has, beside the one that the scripts of its number make. A file may come from anybody: a view
// in the place of a table, or a trigger, would run in every program that trusts it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/database/database.hpp"
#include "profiles/database/migration.hpp"

namespace gnntune::store {

/// Sentences about what differs; all are empty for a file that is as gnntune has made it.
struct SchemaReport {
    /// Tables, views and indices of gnntune that are missing or others, and indices that keep rows out: nothing is read
    /// from such a file.
    std::vector<std::string> broken;
    /// Triggers and indices that somebody has hung on gnntune's tables. Triggers are not run here.
    std::vector<std::string> alien;
    /// Names of tables and views of somebody else. They are left alone.
    std::vector<std::string> beside;
    /// gnntune's tables that are as they should be.
    std::vector<std::string> tables;
    bool has_other_tables = false;
};

/// Empty for a file without any table, as it is while somebody makes it.
SchemaReport compare_schema(const Database& database, std::span<const Migration> migrations);

/// Throws ErrorKind::database in words if anything is broken.
void require_schema(const Database& database, std::span<const Migration> migrations);

/// `PRAGMA <pragma>(limit)`, once for the whole file, or, where somebody else has tables in it, for each of gnntune's:
/// what is computed in another's table when it is checked, nobody knows.
std::vector<std::string> check_statements(const SchemaReport& report, std::string_view pragma, int limit);

/// A definition without what does not matter to SQLite: blanks, comments, capitals, quotes around plain names.
std::string plain_definition(std::string_view sql);

}  // namespace gnntune::store
