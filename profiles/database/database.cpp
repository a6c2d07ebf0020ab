#include "profiles/database/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/database/connect.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/database/migration.hpp"
#include "profiles/database/schema_compare.hpp"

namespace gnntune::store {

using detail::check;
using detail::connect;
using detail::connect_to;
using detail::connect_untouched;
using detail::fail;
using detail::head_of;
using detail::thread_time;
using detail::touch;

detail::Connection::~Connection() {
    sqlite3_close_v2(handle);
}

Statement::Statement(std::shared_ptr<detail::Connection> connection, std::string_view sql, std::string_view doing)
    : connection_(std::move(connection)), doing_(doing) {
    connection_->working_since = thread_time();
    check(*connection_,
          sqlite3_prepare_v2(connection_->handle, sql.data(), static_cast<int>(sql.size()), &handle_, nullptr), doing_);
}

Statement::Statement(Statement&& other) noexcept
    : connection_(std::move(other.connection_)),
      handle_(std::exchange(other.handle_, nullptr)),
      doing_(std::move(other.doing_)),
      began_(other.began_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
    std::swap(connection_, other.connection_);
    std::swap(handle_, other.handle_);
    std::swap(doing_, other.doing_);
    std::swap(began_, other.began_);
    return *this;
}

Statement::~Statement() {
    sqlite3_finalize(handle_);
}

void Statement::rewind(int parameters) {
    began_.reset();
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
    if (!began_) began_ = thread_time();
    connection_->working_since = *began_;
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        began_.reset();
        return false;
    }
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
    auto connection = access == Access::untouched ? connect_untouched(path, access) : connect(path, access);
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

Database Database::in_memory() {
    return Database(connect_to(":memory:", ":memory:", SQLITE_OPEN_READWRITE), Access::read_write_create);
}

void Database::trust_views() const {
    check(*connection_, sqlite3_db_config(connection_->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 1, nullptr),
          "letting its views be read");
}

Statement Database::prepare(std::string_view sql, std::string_view doing) const {
    return Statement(connection_, sql, doing);
}

Statement Database::prepare_query(std::string_view sql, std::string_view doing) const {
    Statement query = [&] {
        try {
            return prepare(sql, doing);
        } catch (const Error&) {
            if (sqlite3_errcode(connection_->handle) != SQLITE_ERROR) throw;
            throw invalid_argument(fmt::format("the query is no SQL for this database: {} (gnntune help db sql)",
                                               sqlite3_errmsg(connection_->handle)));
        }
    }();
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
    connection_->working_since = thread_time();
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

std::optional<std::string> Database::damage_of(const std::filesystem::path& path, Access access) {
    if (not_a_file_complaint(path, false)) return std::nullopt;
    std::shared_ptr<detail::Connection> connection;
    try {
        connection = access == Access::untouched ? connect_untouched(path, access) : connect(path, access);
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
    const auto is_damage = [](int code) { return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB; };
    // Without side files on a read-only medium: whoever opens it says what is wrong.
    const auto is_unasked = [](int code) {
        return (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
    };
    int code = touch(*connection);
    if (is_damage(code)) return sqlite3_errstr(code);
    if (is_unasked(code)) return std::nullopt;
    check(*connection, code, "checking it for damage");
    const Database database(connection, access);
    const SchemaReport schema = compare_schema(database, shipped_migrations());
    if (!schema.broken.empty()) return std::nullopt;  // whoever opens it says so
    std::string found;
    const auto collect = [](void* out, int, char** values, char**) {
        *static_cast<std::string*>(out) = values[0] ? values[0] : "";
        return 0;
    };
    for (const std::string& statement : check_statements(schema, "quick_check", 1)) {
        connection->working_since = thread_time();
        code = sqlite3_exec(connection->handle, statement.c_str(), collect, &found, nullptr);
        if (is_damage(code)) return sqlite3_errstr(code);
        if (is_unasked(code)) return std::nullopt;
        check(*connection, code, "checking it for damage");
        if (found == "ok") continue;
        std::replace(found.begin(), found.end(), '\n', ' ');
        return found;
    }
    return std::nullopt;
}

bool Database::has_moved() const {
    int moved = 0;
    const int code = sqlite3_file_control(connection_->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return code == SQLITE_OK && moved != 0;
}

std::optional<std::filesystem::path> Database::new_path() const {
    namespace fs = std::filesystem;
    if (!connection_->device_and_inode) return std::nullopt;
    // The system keeps the names of open files up to date.
    for (const fs::path& name : entries_of("/proc/self/fd")) {
        std::error_code gone;
        const fs::path target = fs::read_symlink(name, gone);
        if (!gone && detail::identity_of(target) == connection_->device_and_inode) return target;
    }
    return std::nullopt;
}

void Database::copy_to(const std::filesystem::path& target) const {
    const std::string doing = "copying it to " + target.string();
    if (is_there(target)) throw database_error(path().string() + ": while " + doing + ": the copy exists already");
    // SQLite does not copy from a connection that is inside a write transaction.
    const auto source = in_transaction() ? connect(path(), Access::read_only) : connection_;
    const auto copy = connect(target, Access::read_write_create);
    sqlite3_backup* backup = sqlite3_backup_init(copy->handle, "main", source->handle, "main");
    if (!backup) fail(*copy, sqlite3_errcode(copy->handle), doing);
    sqlite3_backup_step(backup, -1);
    check(*copy, sqlite3_backup_finish(backup), doing);
}

}  // namespace gnntune::store
