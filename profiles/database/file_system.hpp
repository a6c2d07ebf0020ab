// What the store asks of the file system: where databases live, whether locks can be trusted, what a foreign file is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnntune::store {

/// The database of this user: $GNNTUNE_DB, else $XDG_DATA_HOME/gnntune/user.db, else ~/.local/share/gnntune/user.db.
/// Reads the environment only; Store::open makes the missing folders of this path when it writes.
/// Throws ErrorKind::database if none of the three variables is set. Not safe beside setenv in another thread.
std::filesystem::path default_user_database();

/// Throws ErrorKind::database in words if the folder of `database` does not exist. Makes it first if `database` is the
/// default one; only then, since any other is a mistyped one.
void require_folder(const std::filesystem::path& database);

/// What a folder has, sorted; nothing if it cannot be read. (std::filesystem's iterator ends the process where memory runs
/// out.)
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Renames `from`, unless `to` exists: then false. Throws ErrorKind::database in words if it cannot be renamed.
bool rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to);

/// A folder beside a file that is being made, named FILE.new- and six letters; gone, with everything in it, when this ends.
class FolderBeside {
public:
    explicit FolderBeside(const std::filesystem::path& file);
    ~FolderBeside();
    FolderBeside(const FolderBeside&) = delete;
    FolderBeside& operator=(const FolderBeside&) = delete;

    /// Empty if it could not be made.
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// The file that the system would open: absolute, links followed, a last one that points to nothing too. What does not
/// exist yet is kept as it stands.
std::filesystem::path resolved(const std::filesystem::path& path);

/// Name of a file system that is shared over a network or served by a user process, from the magic number of statfs(2):
/// shared memory and locks, which WAL needs, cannot be trusted there. Nothing for local ones.
std::optional<std::string_view> network_file_system(unsigned long magic);
/// The same for the folder that holds `path`; nothing if it cannot be asked.
std::optional<std::string_view> network_file_system_of(const std::filesystem::path& path);

/// Whether anything has that name. Throws ErrorKind::database where nobody can say: a folder on the way that this user may
/// not search is not a missing database.
bool is_there(const std::filesystem::path& path);

/// A sentence that says why `path` cannot be read as a file, without opening it; nothing if it may be. A missing file
/// is a complaint unless `may_create`.
std::optional<std::string> not_a_file_complaint(const std::filesystem::path& path, bool may_create);
/// A sentence that says what a file is that begins with `head`, its first kSqliteHeadBytes (or all it has), if it is no
/// SQLite file. An empty file is a complaint unless `may_create`.
std::optional<std::string> not_sqlite_complaint(const std::filesystem::path& path, std::string_view head,
                                                bool may_create);
inline constexpr std::size_t kSqliteHeadBytes = 16;

}  // namespace gnntune::store
