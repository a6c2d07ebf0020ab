// RAII over SQLite: a connection, its statements and its transactions. The only header that names sqlite3 types.
//
// Thread-safety: a Database and everything made from it belong to one thread at a time. Threads and processes that work
// on the same file open one Database each; SQLite locks between them. Never carry one across fork().
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/common/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace gnntune::store {

/// How a file is opened.
enum class Access {
    read_write_create,  ///< created if it is missing
    read_only,          ///< never writes to the file; SQLite may put its -wal and -shm files beside it
    untouched,          ///< read_only, and neither the file, its side files nor its folder change
    immutable,          ///< nobody writes while it is open; no locks, no side files: for read-only media
};

/// "file:" URI of the file that `path` leads to: only a URI can carry an access. For sqlite3_open_v2 and ATTACH.
std::string uri_of(const std::filesystem::path& path, Access access);

/// How long a statement may work. Until somebody says otherwise: ten seconds of processor time, so that no file, whatever
/// its maker has put into it, holds an application for ever.
struct Patience {
    std::optional<std::chrono::nanoseconds> limit = std::chrono::seconds(10);  ///< nothing: as long as it takes
    bool (*stop)() = nullptr;  ///< asked once a statement has worked for a second; true ends it
};
/// For the whole process, from now on.
void set_patience(const Patience& patience);

/// A statement that has worked for too long, or was asked to stop. What it wrote is rolled back.
class StatementStopped : public Error {
public:
    using Error::Error;
};

/// The file is no longer where it was opened: what is written to it, nobody finds.
class FileMoved : public Error {
public:
    FileMoved(const std::filesystem::path& path, bool committed);
    /// Whether the transaction was committed all the same, to what this process holds of the file.
    bool committed() const { return committed_; }

private:
    bool committed_;
};

/// What a column may be given where it is known only at run time.
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

namespace detail {
/// The handle and what error messages need. Shared, so that no statement outlives its connection.
struct Connection {
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    explicit Connection(std::filesystem::path file) : path(std::move(file)) {}
    ~Connection();

    sqlite3* handle = nullptr;
    std::filesystem::path path;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> device_and_inode;  ///< of a file that is written to
    std::shared_ptr<const void> folder;                   ///< of a copy that is read in the place of the file
    std::chrono::steady_clock::time_point waiting_since;  ///< for a lock, while a call does
    std::chrono::nanoseconds working_since{};  ///< processor time of this thread when the present statement began
};
}  // namespace detail

/// A compiled statement. Every error is thrown as ErrorKind::database and names the file, what was being done (the
/// `doing` of Database::prepare) and SQLite's own words.
class Statement {
public:
    Statement(Statement&&) noexcept;
    Statement& operator=(Statement&&) noexcept;
    ~Statement();

    /// Resets the statement and binds all its parameters in order: integers, bool, floating point, text, nullptr,
    /// or an optional of these.
    template <class... T>
    Statement& bind(const T&... values) {
        rewind(static_cast<int>(sizeof...(T)));
        int index = 0;
        (put_value(++index, values), ...);
        return *this;
    }

    /// The same with a value for each parameter.
    Statement& bind_values(std::span<const SqlValue> values);
    /// The same with all columns of the row at which `row` stands.
    Statement& bind_row(const Statement& row);

    /// True while there is a row to read.
    bool step();
    /// Steps to the end and resets: for statements whose rows do not matter.
    void run();

    std::int64_t integer(int column) const;
    std::int32_t integer32(int column) const { return static_cast<std::int32_t>(integer(column)); }
    bool boolean(int column) const { return integer(column) != 0; }
    double real(int column, double if_null = 0) const;
    std::string text(int column) const { return std::string(view(column)); }
    /// Valid until the next step, bind or destruction.
    std::string_view view(int column) const;
    bool is_null(int column) const;
    bool is_integer(int column) const;
    bool is_real(int column) const;
    bool is_blob(int column) const;

    int columns() const;
    std::string_view column_name(int column) const;

private:
    friend class Database;
    Statement(std::shared_ptr<detail::Connection> connection, std::string_view sql, std::string_view doing);

    void rewind(int parameters);
    void put(int index, std::int64_t value);
    void put(int index, double value);
    void put(int index, std::string_view value);
    void put_null(int index);

    template <class T>
    void put_value(int index, const T& value) {
        if constexpr (std::same_as<T, std::nullptr_t>) {
            put_null(index);
        } else if constexpr (std::integral<T>) {
            put(index, static_cast<std::int64_t>(value));
        } else if constexpr (std::floating_point<T>) {
            put(index, static_cast<double>(value));
        } else {
            put(index, std::string_view(value));
        }
    }
    template <class T>
    void put_value(int index, const std::optional<T>& value) {
        value ? put_value(index, *value) : put_null(index);
    }

    std::shared_ptr<detail::Connection> connection_;
    sqlite3_stmt* handle_ = nullptr;
    std::string doing_;
    std::optional<std::chrono::nanoseconds> began_;  ///< processor time of the thread at the first step
};

class Database {
public:
    /// Opens `path`; whoever meets a lock waits for it for up to five seconds. With Access::read_only it falls back to
    /// Access::immutable where SQLite cannot make its side files (a read-only directory or medium). Throws
    /// ErrorKind::database in words if the file is missing (unless it is to be created), is not a SQLite file, or cannot
    /// be opened.
    ///
    /// What the file says is not trusted (SQLite's "Defense Against The Dark Arts"): triggers never run, views may not be
    /// read until trust_views(), its rules may call no function that is not known to be harmless (where SQLite counts its
    /// own JSON functions among those, later than 3.40), and cells are checked as they are read.
    static Database open(const std::filesystem::path& path, Access access);
    /// An empty one that is nobody else's and gone with this.
    static Database in_memory();

    /// From now on its views may be read: whoever calls this has compared them.
    void trust_views() const;

    /// `doing` completes the sentence "<file>: while <doing>: ...".
    Statement prepare(std::string_view sql, std::string_view doing) const;
    /// What a person has typed. Throws ErrorKind::invalid_argument unless it is one statement that only reads.
    Statement prepare_query(std::string_view sql, std::string_view doing) const;
    /// Runs a script of any number of statements.
    void execute(const std::string& sql, std::string_view doing) const;
    /// First column of the first row of a query that has one.
    std::int64_t integer(std::string_view sql, std::string_view doing) const;
    std::string text(std::string_view sql, std::string_view doing) const;

    std::int64_t last_insert_id() const;
    bool in_transaction() const;
    /// Whether the statement that failed last was refused by a rule of the schema, not by the file or the disk.
    bool broke_a_rule() const;
    /// True if the file cannot be written through this connection.
    bool is_read_only() const;
    /// What SQLite's quick check finds wrong with a file, in a line; nothing if it is whole, missing, or by its header
    /// no database of gnntune. Throws ErrorKind::database if it cannot be asked (locked for long).
    static std::optional<std::string> damage_of(const std::filesystem::path& path, Access access = Access::read_only);
    /// Whether the file has that table: files of older schemas lack those of later ones.
    bool has_table(std::string_view name) const;

    /// Whether the file was removed, renamed or replaced, or its folder was, since it was opened.
    bool has_moved() const;
    /// Where the file is that this has open and that has moved; nothing if it is nowhere any more.
    std::optional<std::filesystem::path> new_path() const;

    /// Copies the whole committed content to `target`, which must not exist.
    void copy_to(const std::filesystem::path& target) const;

    const std::filesystem::path& path() const { return connection_->path; }
    Access access() const { return access_; }

private:
    Database(std::shared_ptr<detail::Connection> connection, Access access)
        : connection_(std::move(connection)), access_(access) {}

    std::shared_ptr<detail::Connection> connection_;
    Access access_;
};

/// A write transaction: takes the write lock at once (waiting for it as Database::open says), rolls back unless
/// committed.
class Transaction {
public:
    explicit Transaction(const Database& database);
    Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_.reset(); }
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();

    /// Throws ErrorKind::database if it cannot be committed (disk full, ...); it is rolled back then. Throws FileMoved if
    /// the file is no longer where it was.
    void commit();

private:
    std::optional<Database> database_;
};

/// All reads between its making and its end see one state of the file, whatever others commit meanwhile.
class ReadTransaction {
public:
    explicit ReadTransaction(const Database& database);
    ReadTransaction(const ReadTransaction&) = delete;
    ReadTransaction& operator=(const ReadTransaction&) = delete;
    ~ReadTransaction();

private:
    const Database& database_;
};

/// Undoes what was written since it was made, inside a transaction of someone else, unless released.
class Savepoint {
public:
    explicit Savepoint(const Database& database);
    Savepoint(const Savepoint&) = delete;
    Savepoint& operator=(const Savepoint&) = delete;
    ~Savepoint();
    void release();

private:
    const Database& database_;
    bool open_ = true;
};

}  // namespace gnntune::store
