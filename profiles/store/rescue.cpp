#include "profiles/store/rescue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>

#include "core/common/error.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/store/rescue_rows.hpp"
#include "profiles/store/rows.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kRescuing = "rescuing rows";
constexpr std::int64_t kMostFailures = 200'000;  // of ranges that cannot be read, in a table

std::vector<std::string> texts(const Database& database, const std::string& sql) {
    std::vector<std::string> out;
    Statement s = database.prepare(sql, kRescuing);
    while (s.step()) out.push_back(s.text(0));
    return out;
}

std::string joined_columns(const std::vector<std::string>& columns, const std::string& order = "") {
    std::string out;
    for (const std::string& column : columns) out += (out.empty() ? "" : ", ") + ('"' + column + '"') + order;
    return out;
}

/// One table, from one database to the other.
class TableRescue {
public:
    TableRescue(const Database& damaged, const Database& target, const std::string& table)
        : damaged_(damaged),
          target_(target),
          table_(table),
          key_(texts(target, fmt::format("SELECT name FROM pragma_table_info('{}') WHERE pk > 0 ORDER BY pk", table))),
          columns_(texts(target, fmt::format("SELECT name FROM pragma_table_info('{}')", table))),
          add_(target.prepare(insertion(), kRescuing)),
          has_rowid_(
              target.integer(
                  fmt::format("SELECT sql NOT LIKE '%WITHOUT ROWID%' FROM sqlite_schema WHERE name = '{}'", table),
                  kRescuing) == 1) {}

    /// Whether everything could be read and stored.
    bool run() {
        if (!is_plain_table()) return false;
        if (has_rowid_) {
            by_rowid(1, last_rowid());
        } else if (!copy(" ORDER BY " + joined_columns(key_))) {
            // Without row ids: what can be read from the front, then from the back.
            copy(" ORDER BY " + joined_columns(key_, " DESC"));
        }
        return whole_;
    }

private:
    enum class Step { row, end, unreadable };

    /// Whether the source has its columns, stored as they are, in a table: of a view, a virtual table or a column that
    /// is computed nobody knows what is run when it is read.
    bool is_plain_table() const try {
        Statement s = damaged_.prepare(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'",
            kRescuing);
        if (!s.bind(table_).step()) return false;
        Statement column = damaged_.prepare("SELECT hidden FROM pragma_table_xinfo(?) WHERE name = ?", kRescuing);
        return std::all_of(columns_.begin(), columns_.end(), [&](const std::string& name) {
            return column.bind(table_, name).step() && column.integer(0) == 0;
        });
    } catch (const Error&) {
        return false;
    }

    std::string insertion() const {
        std::string places;
        for (std::size_t i = 0; i < columns_.size(); ++i) places += i == 0 ? "?" : ", ?";
        return fmt::format("INSERT INTO \"{}\" ({}) VALUES ({})", table_, joined_columns(columns_), places);
    }

    // Rows in the order of `tail`, until one cannot be read.
    bool copy(const std::string& tail) {
        std::optional<Statement> rows;
        const auto next = [&] {
            try {
                if (!rows) {
                    rows = damaged_.prepare(
                        fmt::format("SELECT {} FROM \"{}\" NOT INDEXED{}", joined_columns(columns_), table_, tail),
                        kRescuing);
                }
                return rows->step() ? Step::row : Step::end;
            } catch (const Error&) {
                return Step::unreadable;
            }
        };
        Step step = next();
        for (; step == Step::row; step = next()) {
            if (has_rowid_) last_read_ = rows->integer(0);
            add(*rows);
        }
        whole_ = whole_ && step == Step::end;
        return step == Step::end;
    }

    // A row that the schema forbids is left out; that the disk is full is no fault of a row.
    void add(const Statement& row) {
        try {
            add_.bind_row(row).run();
        } catch (const Error&) {
            if (!target_.broke_a_rule()) throw;
            whole_ = false;
        }
    }

    std::int64_t last_rowid() {
        try {
            return damaged_.integer(fmt::format("SELECT coalesce(max(rowid), 0) FROM \"{}\" NOT INDEXED", table_),
                                    kRescuing);
        } catch (const Error&) {
            // More rows than the file has room for there cannot be.
            return damaged_.integer("PRAGMA page_count", kRescuing) * 200;
        }
    }

    // Goes on behind what was read, and halves what cannot be read, down to single rows.
    void by_rowid(std::int64_t first, std::int64_t last) {
        if (first > last || failures_ > kMostFailures) return;
        last_read_ = first - 1;
        if (copy(fmt::format(" WHERE rowid BETWEEN {} AND {} ORDER BY rowid", first, last))) return;
        ++failures_;
        const std::int64_t next = std::max(first, last_read_ + 1);
        if (next >= last) return;
        const std::int64_t middle = next + (last - next) / 2;
        by_rowid(next, middle);
        by_rowid(middle + 1, last);
    }

    const Database& damaged_;
    const Database& target_;
    std::string table_;
    std::vector<std::string> key_;
    std::vector<std::string> columns_;
    Statement add_;
    bool has_rowid_;
    std::int64_t last_read_ = 0;
    std::int64_t failures_ = 0;
    bool whole_ = true;
};

/// Removes the rows whose foreign keys point nowhere; parents come before their children.
std::int64_t remove_orphans(const Database& database, const std::string& table) {
    std::map<std::int64_t, std::pair<std::string, std::vector<std::string>>> keys;  // parent, conditions
    std::map<std::int64_t, std::string> first_column;
    Statement s = database.prepare(
        fmt::format(R"(SELECT id, "table", "from", "to" FROM pragma_foreign_key_list('{}') ORDER BY id, seq)", table),
        kRescuing);
    while (s.step()) {
        keys[s.integer(0)].first = s.text(1);
        keys[s.integer(0)].second.push_back(fmt::format("parent.\"{}\" = child.\"{}\"", s.view(3), s.view(2)));
        first_column.try_emplace(s.integer(0), s.text(2));
    }
    std::int64_t removed = 0;
    for (const auto& [id, key] : keys) {
        std::string conditions;
        for (const std::string& c : key.second) conditions += (conditions.empty() ? "" : " AND ") + c;
        database.execute(fmt::format("DELETE FROM \"{}\" AS child WHERE child.\"{}\" IS NOT NULL AND NOT EXISTS "
                                     "(SELECT 1 FROM \"{}\" AS parent WHERE {})",
                                     table, first_column[id], key.first, conditions),
                         kRescuing);
        removed += database.integer("SELECT changes()", kRescuing);
    }
    return removed;
}

// Rows that say little more than that they are there, made anew where they are lost.
void restore_names(const Database& database) {
    for (const char* table : {"measurement", "part", "choice", "step_call", "accuracy_call"}) {
        database.execute(fmt::format("INSERT OR IGNORE INTO variant (id, version) SELECT DISTINCT variant, "
                                     "variant_version FROM {}",
                                     table),
                         kRescuing);
    }
    database.execute(R"sql(INSERT OR IGNORE INTO run (id, command, tool_version, git_commit, started_at, seed, host)
        SELECT run_id, 'lost; rescued by gnntune db rescue', '', '', min(taken_at), 0, '' FROM measurement
        GROUP BY run_id)sql",
                     kRescuing);
}

std::int64_t remove_rows(const Database& database, std::string_view table, std::string_view which) {
    database.execute(fmt::format("DELETE FROM {} WHERE {}", table, which), kRescuing);
    return database.integer("SELECT changes()", kRescuing);
}

// Tuning chooses again; a choice that nothing bears out would stand in its way.
std::int64_t remove_unsupported_steps(const Database& database) {
    database.execute(fmt::format("CREATE TEMP TABLE unsupported AS SELECT step_choice_id FROM step_call "
                                 "JOIN step_choice ON step_choice.id = step_choice_id WHERE {}",
                                 kUnsupportedStepCall),
                     kRescuing);
    constexpr std::string_view kThose = "IN (SELECT step_choice_id FROM unsupported)";
    remove_rows(database, "step_call", fmt::format("step_choice_id {}", kThose));
    return remove_rows(database, "step_choice", fmt::format("id {}", kThose));
}

/// A copy to read from, so that nothing is written beside the damaged file. SQLite refuses a file that is shorter than
/// its header says: what is missing is filled with zeros, which are pages that it cannot read.
class PaddedCopy {
public:
    PaddedCopy(const std::filesystem::path& damaged, std::filesystem::path copy) : path_(std::move(copy)) {
        namespace fs = std::filesystem;
        std::error_code failed;
        for (const char* side : {"", "-wal"}) {
            const fs::path from = damaged.string() + side;
            if (*side && !fs::exists(from, failed)) continue;
            if (!fs::copy_file(from, path_.string() + side, fs::copy_options::overwrite_existing, failed)) {
                throw database_error(fmt::format("{}: cannot be copied to {} ({}); is the disk full?", from.string(),
                                                 path_.string() + side, failed.message()));
            }
        }
        std::ifstream file(path_, std::ios::binary);
        std::array<unsigned char, 32> header{};
        file.read(reinterpret_cast<char*>(header.data()), header.size());
        const std::uint64_t stored_size = 256U * header[16] + header[17];  // big-endian; 1 stands for 65536
        const std::uint64_t page_bytes = stored_size == 1 ? 65536 : stored_size;
        const std::uint64_t pages =
            (std::uint64_t{header[28]} << 24) + (header[29] << 16) + (header[30] << 8) + header[31];
        const std::uint64_t there = fs::file_size(path_);
        // A size that a flipped bit has made up is not believed.
        const std::uint64_t wanted = pages * page_bytes;
        if (there < wanted && wanted < 64 * std::max<std::uint64_t>(there, 1 << 20)) {
            // Of the page that was cut through nothing is believed: what is missing of its rows would read as zeros.
            fs::resize_file(path_, there / page_bytes * page_bytes);
            fs::resize_file(path_, wanted);
        }
    }
    ~PaddedCopy() {
        try {
            std::error_code ignored;
            for (const char* side : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + side, ignored);
        } catch (...) {
            // No memory for a name: it goes with its folder.
        }
    }
    PaddedCopy(const PaddedCopy&) = delete;
    PaddedCopy& operator=(const PaddedCopy&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Returns whether its schema is an older one than the target's.
bool require_readable(const Database& copy, const Database& target, const std::filesystem::path& damaged) {
    const auto number = [](const Database& database, const char* pragma) {
        return database.integer(fmt::format("PRAGMA {}", pragma), "reading its first page");
    };
    if (number(copy, "application_id") != number(target, "application_id")) {
        throw database_error(damaged.string() + ": its first page is not that of a gnntune database");
    }
    const std::int64_t found = number(copy, "user_version");
    const std::int64_t wanted = number(target, "user_version");
    if (found > wanted || (found < wanted && !can_be_read(found, shipped_migrations()))) {
        throw database_error(
            fmt::format("{}: has schema {}, this gnntune rescues schema {}; use the version that wrote it",
                        damaged.string(), found, wanted));
    }
    return found < wanted;
}

// SQLite reads the list of tables before all else.
Database open_copy(const std::filesystem::path& copy, const std::filesystem::path& damaged) {
    std::string head(kSqliteHeadBytes, '\0');
    std::ifstream file(copy, std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    if (const auto complaint = not_sqlite_complaint(damaged, head, false)) throw database_error(*complaint);
    try {
        return Database::open(copy, Access::read_only);
    } catch (const Error&) {
        if (!Database::damage_of(copy)) throw;  // it is the disk that is full, or the like
        throw database_error(damaged.string() +
                             ": the pages that say which tables it has are damaged, so that SQLite finds none of its "
                             "rows: graphs, measurements, choices and models are all lost to this program. Restore a "
                             "copy; or `sqlite3 FILE .recover`, where that program has it, shows the raw rows");
    }
}

/// Everything that can be read of `source`, in a new database `made`.
std::vector<RescuedTable> rescue_into(const std::filesystem::path& made, const Database& source,
                                      const std::filesystem::path& damaged) {
    OpenOptions options;
    options.journal = Journal::rollback;
    const Store store = Store::open(made, Mode::read_write_create, options);
    const Database& database = store.database();
    const bool is_older = require_readable(source, database, damaged);
    database.execute("PRAGMA foreign_keys = OFF", kRescuing);
    const auto tables = texts(
        database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid");
    std::vector<RescuedTable> out;
    database.execute("BEGIN IMMEDIATE", kRescuing);
    for (const std::string& table : tables) {
        RescuedTable rescued;
        rescued.name = table;
        // A file of an older schema lacks the tables of later ones.
        const bool lacks = is_older && !source.has_table(table);
        rescued.whole = lacks || TableRescue(source, database, table).run();
        out.push_back(rescued);
    }
    const auto rows_of_table = [&database](const RescuedTable& t) {
        return database.integer(fmt::format("SELECT count(*) FROM \"{}\"", t.name), kRescuing);
    };
    for (RescuedTable& t : out) t.orphans = rows_of_table(t);
    remove_unreadable_rows(database);
    for (RescuedTable& t : out) t.orphans -= rows_of_table(t);
    restore_names(database);
    for (RescuedTable& t : out) {
        t.orphans += remove_orphans(database, t.name);
        if (t.name == "measurement") t.orphans += remove_rows(database, t.name, kImpossibleNumbers);
        if (t.name == "choice") t.orphans += remove_rows(database, t.name, kUnsupportedChoice);
    }
    const std::int64_t steps = remove_unsupported_steps(database);
    for (RescuedTable& t : out) {
        if (t.name == "step_choice") t.orphans += steps;
        t.rows = rows_of_table(t);
    }
    database.execute("COMMIT", kRescuing);
    return out;
}

}  // namespace

std::vector<RescuedTable> rescue(const std::filesystem::path& named, const std::filesystem::path& target) {
    namespace fs = std::filesystem;
    if (const auto complaint = not_a_file_complaint(named, false)) throw database_error(*complaint);
    std::error_code ignored;
    const std::filesystem::path damaged =
        std::filesystem::canonical(named, ignored);  // its log lies beside the file itself
    const auto exists = [&] {
        return database_error(target.string() + ": exists already; name a new file for what is rescued");
    };
    if (fs::exists(target, ignored)) throw exists();
    require_folder(target);
    // It gets its name when it is whole; until then all there is lies in a folder that goes with this.
    const FolderBeside folder(target);
    if (folder.path().empty()) {
        throw database_error(target.string() + ": cannot be made; check the folder, its permissions and the disk");
    }
    const fs::path made = folder.path() / target.filename();
    const PaddedCopy copy(damaged, folder.path() / "reading");
    const Database source = open_copy(copy.path(), damaged);
    auto tables = rescue_into(made, source, damaged);
    if (!rename_to_new(made, target)) throw exists();
    return tables;
}

}  // namespace gnntune::store
