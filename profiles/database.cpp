#include "profiles/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/file_system.hpp"
#include "profiles/migration.hpp"

namespace gnntune::store {
namespace {

constexpr std::chrono::seconds kPatience(5);

/// What a person can do about a result code; empty if there is nothing to add.
std::string_view advice(int code) {
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return "; another process kept the file locked, try again when it is done";
        case SQLITE_FULL:
            return "; free some space and try again: what was committed before is safe";
        case SQLITE_IOERR:
            return "; the medium refused: what was committed before is safe";
        case SQLITE_READONLY:
            return "; the file or its folder is read-only: make both writable, or give a copy of the file elsewhere (--db)";
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

[[noreturn]] void fail(const detail::Connection& connection, int code, std::string_view doing) {
    const bool has_words = connection.handle && sqlite3_errcode(connection.handle) == (code & 0xff);
    throw database_error(fmt::format("{}: while {}: {} (SQLite code {}){}", connection.path.string(), doing,
                                     has_words ? sqlite3_errmsg(connection.handle) : sqlite3_errstr(code), code,
                                     advice(code)));
}

/// The one place where SQLite's result codes become exceptions.
void check(const detail::Connection& connection, int code, std::string_view doing) {
    if (code != SQLITE_OK) fail(connection, code, doing);
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
        case Access::immutable:
            return out + "?mode=ro&immutable=1";
    }
    return out;
}

namespace {

/// Called by SQLite when a lock is held by someone else; 0 gives up. Sleeps for half a millisecond to two and a half.
/// With SQLite's own timeout the sleeps grow up to a hundred, so that of many writers those that have waited longest
/// are passed over, and may give up in the end.
int wait_for_lock(void* data, int asked_before) {
    auto& connection = *static_cast<detail::Connection*>(data);
    const auto now = std::chrono::steady_clock::now();
    if (asked_before == 0) connection.waiting_since = now;
    if (now - connection.waiting_since > kPatience) return 0;
    const auto spread = now.time_since_epoch() % std::chrono::milliseconds(2);  // so that not all ask at once
    std::this_thread::sleep_for(std::chrono::microseconds(500) + spread);
    return 1;
}

std::shared_ptr<detail::Connection> connect(const std::filesystem::path& path, Access access) {
    auto connection = std::make_shared<detail::Connection>(path);
    const int flags =
        access == Access::read_write_create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    const int code = sqlite3_open_v2(uri_of(path, access).c_str(), &connection->handle,
                                     flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    check(*connection, code, "opening it");
    sqlite3_busy_handler(connection->handle, wait_for_lock, connection.get());
    return connection;
}

/// The first bytes of the file, at most `count`. Read through SQLite: locks of fcntl(2) belong to the process, and
/// whoever opens and closes the file by other means drops those of every other connection that this process has to it.
std::string head_of(const detail::Connection& connection, std::size_t count) {
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

/// First real read of the file: SQLite opens lazily, so this is where a bad file or folder shows.
int touch(const detail::Connection& connection) {
    return sqlite3_exec(connection.handle, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
}

}  // namespace

detail::Connection::~Connection() {
    sqlite3_close_v2(handle);
}

Statement::Statement(std::shared_ptr<detail::Connection> connection, std::string_view sql, std::string_view doing)
    : connection_(std::move(connection)), doing_(doing) {
    check(*connection_,
          sqlite3_prepare_v2(connection_->handle, sql.data(), static_cast<int>(sql.size()), &handle_, nullptr), doing_);
}

Statement::Statement(Statement&& other) noexcept
    : connection_(std::move(other.connection_)),
      handle_(std::exchange(other.handle_, nullptr)),
      doing_(std::move(other.doing_)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
    std::swap(connection_, other.connection_);
    std::swap(handle_, other.handle_);
    std::swap(doing_, other.doing_);
    return *this;
}

Statement::~Statement() {
    sqlite3_finalize(handle_);
}

void Statement::rewind(int parameters) {
    sqlite3_reset(handle_);  // repeats the error of the last step, which step() has already thrown
    if (parameters != sqlite3_bind_parameter_count(handle_)) {
        throw database_error(fmt::format("{}: while {}: {} values for {} parameters", connection_->path.string(),
                                         doing_, parameters, sqlite3_bind_parameter_count(handle_)));
    }
}

void Statement::put(int index, std::int64_t value) {
    check(*connection_, sqlite3_bind_int64(handle_, index, value), doing_);
}

void Statement::put(int index, double value) {
    check(*connection_, sqlite3_bind_double(handle_, index, value), doing_);
}

void Statement::put(int index, std::string_view value) {
    // An empty view may hold a null pointer, which SQLite would bind as NULL.
    const char* data = value.data() ? value.data() : "";
    check(*connection_, sqlite3_bind_text64(handle_, index, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8), doing_);
}

void Statement::put_null(int index) {
    check(*connection_, sqlite3_bind_null(handle_, index), doing_);
}

Statement& Statement::bind_values(std::span<const SqlValue> values) {
    rewind(static_cast<int>(values.size()));
    int index = 0;
    for (const SqlValue& value : values) {
        ++index;
        std::visit([&](const auto& v) { put_value(index, v); }, value);
    }
    return *this;
}

Statement& Statement::bind_row(const Statement& row) {
    rewind(row.columns());
    for (int i = 0; i < row.columns(); ++i) {
        check(*connection_, sqlite3_bind_value(handle_, i + 1, sqlite3_column_value(row.handle_, i)), doing_);
    }
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    // The words must be taken before the reset, the reset must come before the throw: an unreset statement keeps locks.
    try {
        fail(*connection_, code, doing_);
    } catch (...) {
        sqlite3_reset(handle_);
        throw;
    }
}

void Statement::run() {
    while (step()) {
    }
    check(*connection_, sqlite3_reset(handle_), doing_);
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(handle_, column);
}

double Statement::real(int column, double if_null) const {
    const double value = sqlite3_column_double(handle_, column);  // 0 for NULL
    return value == 0 && is_null(column) ? if_null : value;
}

std::string_view Statement::view(int column) const {
    // Not sqlite3_column_text: it would copy every text to put a zero behind it. The bytes are the same.
    const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
    return data ? std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)))
                : std::string_view();
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}
bool Statement::is_integer(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_INTEGER;
}
bool Statement::is_blob(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_BLOB;
}
bool Statement::is_real(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_FLOAT;
}
int Statement::columns() const {
    return sqlite3_column_count(handle_);
}
std::string_view Statement::column_name(int column) const {
    return sqlite3_column_name(handle_, column);
}

Database Database::open(const std::filesystem::path& path, Access access) {
    const bool may_create = access == Access::read_write_create;
    if (const auto complaint = not_a_file_complaint(path, may_create)) throw database_error(*complaint);
    auto connection = connect(path, access);
    if (const auto complaint = not_sqlite_complaint(path, head_of(*connection, kSqliteHeadBytes), may_create)) {
        throw database_error(*complaint);
    }
    int code = touch(*connection);
    const int primary = code & 0xff;
    if (access == Access::read_only && (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY)) {
        access = Access::immutable;
        connection = connect(path, access);
        code = touch(*connection);
    }
    check(*connection, code, "reading its first page");
    return Database(std::move(connection), access);
}

Statement Database::prepare(std::string_view sql, std::string_view doing) const {
    return Statement(connection_, sql, doing);
}

Statement Database::prepare_query(std::string_view sql, std::string_view doing) const {
    Statement query = prepare(sql, doing);
    if (!query.handle_) throw invalid_argument("expected an SQL query, such as 'select * from best'");
    const std::string_view rest = sql.substr(std::string_view(sqlite3_sql(query.handle_)).size());
    if (rest.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
        throw invalid_argument("expected one SQL statement; behind the first stands '" + std::string(rest) + "'");
    }
    if (sqlite3_stmt_readonly(query.handle_) == 0 || query.columns() == 0) {
        throw invalid_argument("expected an SQL query that reads, such as 'select * from best'");
    }
    return query;
}

void Database::execute(const std::string& sql, std::string_view doing) const {
    check(*connection_, sqlite3_exec(connection_->handle, sql.c_str(), nullptr, nullptr, nullptr), doing);
}

std::int64_t Database::integer(std::string_view sql, std::string_view doing) const {
    Statement statement = prepare(sql, doing);
    if (!statement.step()) throw database_error(path().string() + ": while " + std::string(doing) + ": no row");
    return statement.integer(0);
}

bool Database::has_table(std::string_view name) const {
    Statement s = prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?", "looking for a table");
    return s.bind(name).step();
}

std::string Database::text(std::string_view sql, std::string_view doing) const {
    Statement statement = prepare(sql, doing);
    if (!statement.step()) throw database_error(path().string() + ": while " + std::string(doing) + ": no row");
    return statement.text(0);
}

std::int64_t Database::last_insert_id() const {
    return sqlite3_last_insert_rowid(connection_->handle);
}
bool Database::in_transaction() const {
    return sqlite3_get_autocommit(connection_->handle) == 0;
}
bool Database::broke_a_rule() const {
    return (sqlite3_errcode(connection_->handle) & 0xff) == SQLITE_CONSTRAINT;
}
bool Database::is_read_only() const {
    return sqlite3_db_readonly(connection_->handle, "main") != 0;
}

std::optional<std::string> Database::damage_of(const std::filesystem::path& path) {
    if (not_a_file_complaint(path, false)) return std::nullopt;
    std::shared_ptr<detail::Connection> connection;
    try {
        connection = connect(path, Access::read_only);
    } catch (const Error&) {
        if (not_a_file_complaint(path, false)) return std::nullopt;  // set aside by another process just now
        throw;
    }
    // The file of another program is nobody's business here.
    constexpr std::size_t kIdAt = 68;
    const std::string head = head_of(*connection, kIdAt + 4);
    std::int64_t id = 0;
    for (std::size_t i = kIdAt; i < head.size(); ++i) id = id * 256 + static_cast<unsigned char>(head[i]);
    if (id != kApplicationId || not_sqlite_complaint(path, head, true)) return std::nullopt;
    std::string found;
    const auto collect = [](void* out, int, char** values, char**) {
        *static_cast<std::string*>(out) = values[0] ? values[0] : "";
        return 0;
    };
    const int code = sqlite3_exec(connection->handle, "PRAGMA quick_check(1)", collect, &found, nullptr);
    const int primary = code & 0xff;
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) return sqlite3_errstr(code);
    // Without side files on a read-only medium: whoever opens it says what is wrong.
    if (primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) return std::nullopt;
    check(*connection, code, "checking it for damage");
    if (found == "ok") return std::nullopt;
    std::replace(found.begin(), found.end(), '\n', ' ');
    return found;
}

void Database::copy_to(const std::filesystem::path& target) const {
    const std::string doing = "copying it to " + target.string();
    if (is_there(target)) throw database_error(path().string() + ": while " + doing + ": the copy exists already");
    // Its own connection: SQLite does not copy from one that is inside a write transaction.
    const auto source = connect(path(), Access::read_only);
    const auto copy = connect(target, Access::read_write_create);
    sqlite3_backup* backup = sqlite3_backup_init(copy->handle, "main", source->handle, "main");
    if (!backup) fail(*copy, sqlite3_errcode(copy->handle), doing);
    sqlite3_backup_step(backup, -1);
    check(*copy, sqlite3_backup_finish(backup), doing);
}

Transaction::Transaction(const Database& database) : database_(database) {
    database.execute("BEGIN IMMEDIATE", "taking the write lock");
}

Transaction::~Transaction() {
    if (!database_ || !database_->in_transaction()) return;
    try {
        database_->execute("ROLLBACK", "rolling back");
    } catch (const Error&) {
        // Closing the connection rolls back as well; a destructor has nobody to tell.
    }
}

void Transaction::commit() {
    database_->execute("COMMIT", "committing");
    database_.reset();
}

ReadTransaction::ReadTransaction(const Database& database) : database_(database) {
    database.execute("BEGIN", "beginning to read");
}

ReadTransaction::~ReadTransaction() {
    try {
        database_.execute("COMMIT", "ending to read");
    } catch (const Error&) {
        // Nothing was written; closing the connection ends it as well.
    }
}

Savepoint::Savepoint(const Database& database) : database_(database) {
    database.execute("SAVEPOINT gnntune", "setting a savepoint");
}

Savepoint::~Savepoint() {
    // After some errors SQLite has rolled the whole transaction back already.
    if (!open_ || !database_.in_transaction()) return;
    try {
        database_.execute("ROLLBACK TO gnntune; RELEASE gnntune", "rolling back");
    } catch (const Error&) {
    }
}

void Savepoint::release() {
    database_.execute("RELEASE gnntune", "releasing a savepoint");
    open_ = false;
}

}  // namespace gnntune::store
