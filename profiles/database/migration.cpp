#include "profiles/database/migration.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/database/file_system.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

std::int64_t user_version(const Database& database) {
    return database.integer("PRAGMA user_version", "reading its schema number");
}

std::int64_t application_id(const Database& database) {
    return database.integer("PRAGMA application_id", "reading its application id");
}

bool is_blank(const Database& database) {
    return database.integer("SELECT count(*) FROM sqlite_schema", "reading its schema") == 0;
}

fs::path backup_path(const fs::path& path, std::int64_t version) {
    const std::string base = fmt::format("{}.schema-{}.backup", path.string(), version);
    fs::path candidate = base;
    for (int i = 2; is_there(candidate); ++i) candidate = fmt::format("{}.{}", base, i);
    return candidate;
}

/// Copies the database to a name of its own, which is there only when the copy is whole. Under the write lock.
fs::path back_up(const Database& database, std::int64_t version) {
    const fs::path backup = backup_path(database.path(), version);
    const fs::path part = fmt::format("{}.schema-{}.backup.part", database.path().string(), version);
    std::error_code ignored;
    const auto clear = [&] {
        for (const char* side : {"", "-journal", "-wal", "-shm"}) fs::remove(part.string() + side, ignored);
    };
    clear();  // of a process that was killed
    try {
        database.copy_to(part);
        fs::rename(part, backup);
    } catch (...) {
        clear();
        throw;
    }
    return backup;
}

}  // namespace

int schema_version(std::span<const Migration> migrations) {
    return migrations.empty() ? 0 : migrations.back().version;
}

bool can_be_read(std::int64_t found, std::span<const Migration> migrations) {
    return found > 0 && std::all_of(migrations.begin(), migrations.end(), [&](const Migration& m) {
               return m.version <= found || m.name.find("_adds_") != std::string_view::npos;
           });
}

void require_known(const Database& database, std::span<const Migration> migrations) {
    const std::string path = database.path().string();
    // One state for the three reads: another process may be creating the file just now.
    const ReadTransaction reading(database);
    const std::int64_t id = application_id(database);
    const std::int64_t version = user_version(database);
    if (id != kApplicationId && !(id == 0 && version == 0 && is_blank(database))) {
        throw database_error(
            fmt::format("{}: a SQLite database of another program (application_id {:#x}, expected {:#x}); "
                        "it was left as it is",
                        path, id, kApplicationId));
    }
    if (std::string encoding = database.text("PRAGMA encoding", "reading its encoding"); encoding != "UTF-8") {
        std::erase(encoding, '\0');  // it is given in itself
        throw database_error(
            fmt::format("{}: its texts are {}, expected UTF-8, in which gnntune writes them; make a copy in UTF-8: "
                        "sqlite3 {} .dump | "
                        "sqlite3 COPY, then `pragma application_id = {}; pragma user_version = {}` there",
                        path, encoding, path, kApplicationId, version));
    }
    const int known = schema_version(migrations);
    if (version > known) {
        throw database_error(
            fmt::format("{}: has schema {}, this gnntune knows schemas up to {}; use a newer gnntune that "
                        "knows schema {}",
                        path, version, known, version));
    }
}

fs::path migrate(const Database& database, std::span<const Migration> migrations) {
    const int newest = schema_version(migrations);
    if (user_version(database) == newest) return {};

    Transaction transaction(database);
    // Again under the lock: another process may have migrated since.
    const std::int64_t found = user_version(database);
    if (found >= newest) return {};
    fs::path backup;
    if (found > 0) backup = back_up(database, found);
    for (const Migration& migration : migrations) {
        if (migration.version <= found) continue;
        database.execute(std::string(migration.sql),
                         fmt::format("moving it to schema {} ({}){}", migration.version, migration.name,
                                     backup.empty() ? "" : ", a copy from before is " + backup.string()));
    }
    if (database.prepare("PRAGMA foreign_key_check", "checking foreign keys").step()) {
        throw database_error(
            fmt::format("{}: moving it to schema {} would leave dangling rows; it was left as it is, run "
                        "`gnntune db check`",
                        database.path().string(), newest));
    }
    database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, newest),
                     "writing its schema number");
    transaction.commit();
    return backup;
}

}  // namespace gnntune::store
