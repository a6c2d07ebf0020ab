#include "profiles/store/merge_check.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "profiles/database/schema_compare.hpp"
#include "profiles/store/check.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kDoingCheck = "checking what is taken in";

/// For as long as this lives the names of all tables stand for those of `other`: names of TEMP come first.
class OtherTables {
public:
    explicit OtherTables(const Database& database) : database_(database) {
        Statement tables = database.prepare(
            "SELECT name, name IN (SELECT name FROM other.sqlite_schema WHERE type = 'table') FROM main.sqlite_schema "
            "WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
            kDoingCheck);
        std::vector<std::string> made;
        while (tables.step()) {
            names_.push_back(tables.text(0));
            // What a file of an older schema lacks has no rows.
            made.push_back(fmt::format("CREATE TEMP VIEW \"{0}\" AS SELECT * FROM {1}.\"{0}\" {2}", names_.back(),
                                       tables.boolean(1) ? "other" : "main", tables.boolean(1) ? "" : "WHERE false"));
        }
        for (const std::string& view : made) database.execute(view, kDoingCheck);
    }
    OtherTables(const OtherTables&) = delete;
    OtherTables& operator=(const OtherTables&) = delete;
    ~OtherTables() {
        try {
            for (const std::string& name : names_) {
                database_.execute(fmt::format("DROP VIEW IF EXISTS temp.\"{}\"", name), kDoingCheck);
            }
        } catch (...) {
            // The transaction is rolled back, and they go with it.
        }
    }

private:
    const Database& database_;
    std::vector<std::string> names_;
};

/// Triggers and indices of somebody else on gnntune's tables. One that opened had nothing worse.
std::vector<std::string> alien_parts(const Database& database) {
    return compare_schema(database, shipped_migrations()).alien;
}

std::vector<std::string> dangling_rows(const Database& database, std::string_view schema) {
    Statement row = database.prepare(fmt::format("PRAGMA {}.foreign_key_check", schema), kDoingCheck);
    if (!row.step()) return {};
    return {fmt::format("a row of {} names a row of {} which does not exist", row.view(0), row.view(2))};
}

void throw_first(std::vector<std::string> faults, const std::vector<std::string>& more,
                 const std::filesystem::path& from) {
    faults.insert(faults.end(), more.begin(), more.end());
    if (faults.empty()) return;
    throw database_error(fmt::format(
        "{0}: nothing of it was taken in: {1}{2}; `gnntune db check --db {3}` names all there is, `gnntune "
        "db rescue {3} "
        "FILE` leaves it out, and what a newer gnntune has written a newer one takes in",
        from.string(), faults.front(), faults.size() == 1 ? "" : fmt::format(", and {} faults more", faults.size() - 1),
        shell_quoted(from.string())));
}

}  // namespace

void refuse_faults(const Database& database, const Store& from, const ConfigCheck& check) {
    auto faults = alien_parts(from.database());
    for (std::string& fault : dangling_rows(database, "other")) faults.push_back(std::move(fault));
    const OtherTables theirs(database);
    throw_first(std::move(faults), faults_of_rows(database, check), from.path());
}

void Store::require_mergeable(const ConfigCheck& check) const {
    const ReadTransaction reading(database());
    auto faults = alien_parts(database());
    for (std::string& fault : dangling_rows(database(), "main")) faults.push_back(std::move(fault));
    throw_first(std::move(faults), faults_of_rows(database(), check), path());
}

}  // namespace gnntune::store
