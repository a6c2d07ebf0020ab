#include "profiles/database/connect.hpp"

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <ctime>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/database/file_system.hpp"

namespace gnntune::store {
namespace {

constexpr std::chrono::seconds kLockPatience(5);

constexpr std::chrono::nanoseconds kNoLimit = std::chrono::nanoseconds::max();
constexpr std::chrono::seconds kUndisturbed(1);  // that a statement works before anybody is asked
constexpr int kStepsBetween = 100'000;           // of SQLite's machine: some milliseconds
std::atomic<std::chrono::nanoseconds> statement_limit{*Patience().limit};
std::atomic<bool (*)()> statement_stop{nullptr};

/// Called by SQLite as it works; anything but 0 ends the statement.
int go_on_or_end(void* data) {
    const auto worked = detail::thread_time() - static_cast<detail::Connection*>(data)->working_since;
    if (worked > statement_limit.load()) return 1;
    const auto stop = statement_stop.load();
    return worked > kUndisturbed && stop && stop() ? 1 : 0;
}

/// Whether rules of a schema may be held to harmless functions: ours use those of JSON, which SQLite has not always
/// counted among them. It looks at the rules as it opens the file.
bool json_is_harmless() {
    static const bool kHarmless = [] {
        sqlite3* handle = nullptr;
        bool worked = sqlite3_open(":memory:", &handle) == SQLITE_OK;
        worked = worked && sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr) == SQLITE_OK;
        constexpr const char* kRule =
            "CREATE TABLE t (a TEXT CHECK (json_valid(a) AND json_type(a) = '' AND json_array_length(a) > 0))";
        worked = worked && sqlite3_exec(handle, kRule, nullptr, nullptr, nullptr) == SQLITE_OK;
        sqlite3_close(handle);
        return worked;
    }();
    return kHarmless;
}

bool size_is_limited() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Of SQLITE_IOERR: whether a file was to grow.
bool is_of_writing(int code) {
    return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_TRUNCATE;
}

/// What a person can do about a result code, an extended one if it is known; empty if there is nothing to add.
std::string_view advice(int code) {
    constexpr std::string_view kLimited =
        "; there is a limit on the size of files (ulimit -f): raise it; what was committed before is safe";
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return "; another process kept the file locked, try again when it is done";
        case SQLITE_FULL:
            if (size_is_limited()) return kLimited;
            return "; free some space and try again: what was committed before is safe";
        case SQLITE_IOERR:
            if (is_of_writing(code) && size_is_limited()) return kLimited;
            return "; the medium refused: what was committed before is safe";
        case SQLITE_READONLY:
            return "; the file or its folder is read-only: make both writable, or give a copy of the file elsewhere "
                   "(--db)";
        case SQLITE_CANTOPEN:
            return "; check that the folder exists and may be read and written";
        case SQLITE_CORRUPT:
            return "; the file is damaged: restore a copy, or save what can be read with `gnntune db rescue`";
        case SQLITE_NOTADB:
            return "; this is not a gnntune database";
        default:
            return "";
    }
}

/// Called by SQLite when a lock is held by someone else; 0 gives up. Sleeps for half a millisecond to two and a half.
/// With SQLite's own timeout the sleeps grow up to a hundred, so that of many writers those that have waited longest
/// are passed over, and may give up in the end.
int wait_for_lock(void* data, int asked_before) {
    auto& connection = *static_cast<detail::Connection*>(data);
    const auto now = std::chrono::steady_clock::now();
    if (asked_before == 0) connection.waiting_since = now;
    if (now - connection.waiting_since > kLockPatience) return 0;
    const auto spread = now.time_since_epoch() % std::chrono::milliseconds(2);  // so that not all ask at once
    std::this_thread::sleep_for(std::chrono::microseconds(500) + spread);
    return 1;
}

}  // namespace

std::string uri_of(const std::filesystem::path& path, Access access) {
    std::string out = "file:";
    for (const char c : resolved(path).string()) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) || c == '/' || c == '.' || c == '-' || c == '_' || c == '~') {
            out += c;
        } else {
            out += fmt::format("%{:02X}", byte);
        }
    }
    switch (access) {
        case Access::read_write_create:
            return out + "?mode=rwc";
        case Access::read_only:
            return out + "?mode=ro";
        case Access::untouched:
            return out + "?mode=ro&readonly_shm=1";
        case Access::immutable:
            return out + "?mode=ro&immutable=1";
    }
    return out;
}

FileMoved::FileMoved(const std::filesystem::path& path, bool committed)
    : Error(ErrorKind::database,
            path.string() + ": the file, or its folder, was removed, renamed or replaced while it was in use"),
      committed_(committed) {}

void set_patience(const Patience& patience) {
    statement_limit = patience.limit.value_or(kNoLimit);
    statement_stop = patience.stop;
}

namespace detail {

std::chrono::nanoseconds thread_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

[[noreturn]] void fail(const detail::Connection& connection, int code, std::string_view doing) {
    const bool has_words = connection.handle && sqlite3_errcode(connection.handle) == (code & 0xff);
    if ((code & 0xff) == SQLITE_INTERRUPT) {
        throw StatementStopped(
            ErrorKind::database,
            fmt::format("{}: while {}: stopped after {:.0f} s of work; a file that gnntune wrote is read in less, see "
                        "what `gnntune db check` says of it",
                        connection.path.string(), doing,
                        std::chrono::duration<double>(thread_time() - connection.working_since).count()));
    }
    if (connection.handle && sqlite3_extended_errcode(connection.handle) == SQLITE_READONLY_DBMOVED) {
        throw FileMoved(connection.path, false);
    }
    throw database_error(fmt::format("{}: while {}: {} (SQLite code {}){}", connection.path.string(), doing,
                                     has_words ? sqlite3_errmsg(connection.handle) : sqlite3_errstr(code), code,
                                     advice(has_words ? sqlite3_extended_errcode(connection.handle) : code)));
}

void check(const detail::Connection& connection, int code, std::string_view doing) {
    if (code != SQLITE_OK) fail(connection, code, doing);
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_of(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return std::pair<std::uint64_t, std::uint64_t>(status.st_dev, status.st_ino);
}

std::shared_ptr<Connection> connect_to(const std::filesystem::path& path, const std::string& uri, int flags) {
    auto connection = std::make_shared<Connection>(path);
    const int code =
        sqlite3_open_v2(uri.c_str(), &connection->handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    check(*connection, code, "opening it");
    sqlite3* const handle = connection->handle;
    const std::pair<int, int> distrust[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                            {SQLITE_DBCONFIG_TRUSTED_SCHEMA, json_is_harmless() ? 0 : 1},
                                            {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                            {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
    for (const auto& [option, on] : distrust) {
        check(*connection, sqlite3_db_config(handle, option, on, nullptr), "opening it");
    }
    check(*connection, sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr), "opening it");
    sqlite3_busy_handler(handle, wait_for_lock, connection.get());
    sqlite3_progress_handler(handle, kStepsBetween, go_on_or_end, connection.get());
    return connection;
}

std::shared_ptr<Connection> connect(const std::filesystem::path& path, Access access) {
    const int flags =
        access == Access::read_write_create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    auto connection = connect_to(path, uri_of(path, access), flags);
    if (access == Access::read_write_create) connection->device_and_inode = identity_of(path);
    return connection;
}

std::shared_ptr<Connection> connect_untouched(const std::filesystem::path& path, Access& access) {
    namespace fs = std::filesystem;
    constexpr std::size_t kFormatAt = 18;
    const fs::path file = resolved(path);
    const fs::path log = file.string() + "-wal";
    std::error_code ignored;
    auto connection = connect(path, Access::immutable);
    const std::string head = head_of(*connection, kFormatAt + 1);
    const bool has_log_format = head.size() > kFormatAt && head[kFormatAt] == 2;
    const auto log_bytes = fs::file_size(log, ignored);
    if (has_log_format && (ignored || log_bytes == 0)) {
        access = Access::immutable;
        return connection;
    }
    connection = connect(path, Access::untouched);
    const int code = touch(*connection) & 0xff;
    if (!has_log_format || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)) return connection;
    connection.reset();  // the copying below would drop its locks
    const auto folder = std::make_shared<const FolderBeside>(fs::temp_directory_path() / "gnntune");
    const fs::path copy = folder->path() / "copy.db";
    for (const char* side : {"", "-wal"}) {
        if (folder->path().empty() || !fs::copy_file(file.string() + side, copy.string() + side, ignored)) {
            throw database_error(
                fmt::format("{}: cannot be copied to {}, where it would be read; make room there or name "
                            "another folder in TMPDIR",
                            path.string(), fs::temp_directory_path().string()));
        }
    }
    connection = connect_to(path, uri_of(copy, Access::read_only), SQLITE_OPEN_READONLY);
    connection->folder = folder;
    return connection;
}

std::string head_of(const Connection& connection, std::size_t count) {
    constexpr std::string_view kDoing = "reading its first bytes";
    sqlite3_file* file = nullptr;
    check(connection, sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file), kDoing);
    sqlite3_int64 size = 0;
    check(connection, file->pMethods->xFileSize(file, &size), kDoing);
    std::string head(std::min(count, static_cast<std::size_t>(size)), '\0');
    if (head.empty()) return head;
    check(connection, file->pMethods->xRead(file, head.data(), static_cast<int>(head.size()), 0), kDoing);
    return head;
}

int touch(Connection& connection) {
    connection.working_since = thread_time();
    return sqlite3_exec(connection.handle, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
}

}  // namespace detail

}  // namespace gnntune::store
