// Store: a file that is no longer where it was opened. What this process holds of it is still whole.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "core/common/utc.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/store/impl.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

/// Moves the log into the file: where it lies, at the old name and perhaps beside another file, nobody finds it, or
/// somebody takes it for that other file's. False if another process that reads keeps part of it.
bool move_log(const Database& database) {
    return database.integer("PRAGMA wal_checkpoint(TRUNCATE)", "moving the log into the file") == 0;
}

/// A name in that folder which nothing has.
fs::path unused_name(const fs::path& folder, const fs::path& database) {
    std::string stamp = utc_now();
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
    std::error_code ignored;
    for (int i = 1;; ++i) {
        fs::path name = folder / fmt::format("{}.saved-{}{}", database.filename().string(), stamp,
                                             i == 1 ? "" : fmt::format("-{}", i));
        if (!fs::exists(name, ignored)) return name;
    }
}

/// Copies it to the first of several folders that takes it.
fs::path copy_somewhere(const Database& database) {
    const fs::path file = resolved(database.path());
    std::error_code ignored;
    std::string why;
    for (const fs::path& folder :
         std::array{file.parent_path(), fs::current_path(ignored), fs::temp_directory_path(ignored)}) {
        if (!fs::is_directory(folder, ignored)) continue;
        const fs::path copy = unused_name(folder, file);
        try {
            database.copy_to(copy);
            return copy;
        } catch (const Error& error) {
            why += fmt::format("; {}", error.what());
            for (const char* side : {"", "-journal", "-wal"}) fs::remove(copy.string() + side, ignored);
        }
    }
    throw database_error(fmt::format("{}: what it held could be saved nowhere{}", database.path().string(), why));
}

}  // namespace

std::string Store::save_elsewhere() {
    const Database& database = impl_->database;
    impl_->statements.clear();
    std::optional<fs::path> renamed = database.new_path();
    const fs::path old = resolved(path());
    std::error_code ignored;
    const auto has_log = [&](const fs::path& file) {
        const auto bytes = fs::file_size(file.string() + "-wal", ignored);
        return !ignored && bytes > 0;
    };
    // Whoever has opened it by its new name keeps another log, and knows nothing of the locks of this one.
    if (renamed && has_log(*renamed) && has_log(old)) {
        renamed.reset();
    } else if (!move_log(database)) {
        renamed.reset();
    }
    if (!fs::exists(old, ignored)) {
        for (const char* side : {"-wal", "-shm"}) fs::remove(old.string() + side, ignored);
    }
    const fs::path now = renamed ? *renamed : copy_somewhere(database);
    if (!impl_->unsaved.empty()) {
        Store store = open(now, Mode::read_write_create);
        Transaction transaction = store.transaction();
        for (const Impl::Unsaved& row : std::exchange(impl_->unsaved, {})) {
            store.add_measurement(row.run, row.key, row.measurement);
        }
        transaction.commit();
    }
    if (renamed) return fmt::format("it is {} now, with everything that was measured; go on with --db", now.string());
    // The folder may be gone with the file.
    const fs::path folder = path().parent_path();
    const bool gone = !folder.empty() && !fs::is_directory(folder, ignored);
    return fmt::format(
        "everything it held, with what was measured, is in {}; take it in with: {}gnntune db merge {} --db {}",
        now.string(), gone ? "mkdir -p " + shell_quoted(folder.string()) + " && " : "", shell_quoted(now.string()),
        shell_quoted(path().string()));
}

}  // namespace gnntune::store
