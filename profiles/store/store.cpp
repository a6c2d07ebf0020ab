#include "profiles/store/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "core/common/utc.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/database/schema_compare.hpp"
#include "profiles/store/impl.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInsertGraph = R"sql(
INSERT INTO graph (fingerprint, n_rows, n_cols, m, name, source, features) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING)sql";

/// Sets the journal mode if it is another one. SQLite does not wait for locks when it switches, so this does.
void set_journal(const Database& database, std::string_view mode, const OpenOptions& options) {
    constexpr int kTries = 50;
    for (int i = 0; database.text("PRAGMA journal_mode", "reading its journal mode") != mode; ++i) {
        try {
            const std::string now =
                database.text(fmt::format("PRAGMA journal_mode = {}", mode), "setting its journal mode");
            if (now == mode) return;
            i = kTries;  // this file system cannot; trying again would not help
        } catch (const Error&) {
            // Busy: another process is switching or recovering. The file works in either mode.
        }
        if (i == kTries) {
            if (options.warn) {
                options.warn(fmt::format("{}: could not switch the journal to {}; going on without",
                                         database.path().string(), mode));
            }
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void prepare_for_writing(const Database& database, const OpenOptions& options) {
    Journal journal = options.journal;
    if (journal == Journal::automatic) {
        const auto network = network_file_system_of(database.path());
        journal = network ? Journal::rollback : Journal::wal;
        if (network && options.warn) {
            options.warn(
                fmt::format("{}: lies on {}, where SQLite's write-ahead log is not safe; using the slower rollback "
                            "journal. Let only one host write at a time",
                            database.path().string(), *network));
        }
    }
    set_journal(database, journal == Journal::wal ? "wal" : "delete", options);
    database.execute("PRAGMA synchronous = NORMAL", "setting synchronous");
    const fs::path backup = migrate(database, options.migrations);
    if (!backup.empty() && options.warn) {
        options.warn(fmt::format("{}: moved to schema {}; the file as it was is {}", database.path().string(),
                                 schema_version(options.migrations), backup.string()));
    }
    // Only now: migrations run without, so that they may rebuild tables.
    database.execute("PRAGMA foreign_keys = ON", "turning foreign keys on");
}

// A new database gets its name when it is whole: who reads meanwhile finds none, and a process that is killed leaves
// none. SQLite would make it in place, empty at first. That is still how it is made where this does not work (no hard
// links, a name that is a dangling symbolic link), which therefore is no error.
void create_whole(const fs::path& path, OpenOptions options) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return;
    // What a database of that name has left behind would be taken for its own. SQLite removes it from an empty file.
    for (const char* side : {"-wal", "-journal"}) {
        if (fs::exists(path.string() + side, ignored)) return;
    }
    const FolderBeside folder(path);
    if (folder.path().empty()) return;
    const fs::path made = folder.path() / path.filename();
    options.warn = nullptr;  // whatever there is to say is said when it is opened under its name
    try {
        prepare_for_writing(Database::open(made, Access::read_write_create), options);
    } catch (const Error& error) {  // in place it would fail as well, and leave half a database
        throw database_error(fmt::format("{}: cannot be made: {}", path.string(), error.what()));
    }
    if (fs::exists(made.string() + "-wal", ignored)) return;  // closing could not move everything into the file
    // Fails where another process was faster: its database is as good.
    [[maybe_unused]] const int code = ::link(made.c_str(), path.c_str());
}

/// Holds the lock (flock) of a folder for as long as it lives, where the file system has that. Not of the file: to open
/// and close a database by other means than SQLite drops the locks that this process has on it.
class FolderLock {
public:
    explicit FolderLock(const fs::path& folder)
        : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
    }
    ~FolderLock() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int descriptor_;
};

// A name that nothing has. Two processes that come here hold the lock one after the other.
fs::path set_aside(const fs::path& path, const std::string& damage) try {
    std::string stamp = utc_now();
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
    for (int i = 1;; ++i) {
        const fs::path aside =
            fmt::format("{}.damaged-{}{}", path.string(), stamp, i == 1 ? "" : fmt::format("-{}", i));
        if (!rename_to_new(path, aside)) continue;
        for (const char* side : {"-wal", "-shm"}) {
            std::error_code ignored;
            fs::rename(path.string() + side, aside.string() + side, ignored);
        }
        return aside;
    }
} catch (const Error& error) {
    throw database_error(fmt::format("{}: the file is damaged ({}), and {}", path.string(), damage, error.what()));
}

Error damaged(const fs::path& path, const std::string& damage) {
    return database_error(
        fmt::format("{}: the file is damaged ({}); restore a copy, or save what can be read: gnntune db rescue {} FILE",
                    path.string(), damage, shell_quoted(path.string())));
}

// Nobody writes to a damaged file: it would only get worse.
void handle_damage(const fs::path& named, const OpenOptions& options) {
    std::error_code failed;
    const fs::path path = fs::canonical(named, failed);
    if (failed) return;  // it is not there
    auto damage = Database::damage_of(path);
    if (!damage) return;
    if (!options.set_damaged_aside) throw damaged(path, *damage);
    const FolderLock lock(path.parent_path());
    damage = Database::damage_of(path);
    if (!damage) return;  // another process has set it aside
    const fs::path aside = set_aside(path, *damage);
    if (options.warn) {
        options.warn(fmt::format(
            "{}: the file is damaged ({}); it is now {}, and a new database is begun. What can be read of the "
            "old one comes back with: gnntune db rescue {} FILE && gnntune db merge FILE --db {}",
            path.string(), *damage, aside.string(), shell_quoted(aside.string()), shell_quoted(path.string())));
    }
}

void require_json(const std::string& features, const Database& database) {
    Statement valid = database.prepare("SELECT json_valid(?)", "checking a graph's features");
    valid.bind(features).step();
    if (!valid.boolean(0)) throw invalid_argument("the features of a graph are no JSON: " + features.substr(0, 80));
}

}  // namespace

void Store::Impl::pass_over(const UnreadableRow& row) const {
    if (!warn || !said.emplace(row.what()).second) return;
    warn(fmt::format("{}: {}; rows with it are passed over (gnntune db check)", database.path().string(), row.what()));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const fs::path& path, Mode mode, const OpenOptions& options) {
    const bool writing = mode == Mode::read_write_create;
    if (writing) {
        require_folder(path);
        handle_damage(path, options);
        create_whole(path, options);
    }
    const Access access = writing                   ? Access::read_write_create
                          : mode == Mode::untouched ? Access::untouched
                                                    : Access::read_only;
    Database database = Database::open(path, access);
    require_known(database, options.migrations);
    if (!options.any_schema) require_schema(database, options.migrations);
    if (!options.any_schema || compare_schema(database, options.migrations).broken.empty()) database.trust_views();
    if (writing) {
        if (database.is_read_only()) {
            throw database_error(path.string() +
                                 ": cannot be written (the file or its medium is read-only); copy it to a "
                                 "place that can, or open it for reading");
        }
        prepare_for_writing(database, options);
    } else {
        const std::int64_t found = database.integer("PRAGMA user_version", "reading its schema number");
        const int known = schema_version(options.migrations);
        if (found == 0) {
            throw database_error(path.string() +
                                 ": a database without tables, as it is while somebody makes it; try again, or open it "
                                 "once for writing (any `gnntune tune --db` does)");
        }
        if (!can_be_read(found, options.migrations)) {
            throw database_error(
                fmt::format("{}: has schema {}, this gnntune reads schema {}; open it once for writing (any "
                            "`gnntune tune --db` does) to move it forward, a copy is kept",
                            path.string(), found, known));
        }
        std::error_code code;
        const auto log_bytes = fs::file_size(path.string() + "-wal", code);
        if (database.access() == Access::immutable && !code && log_bytes > 0 && options.warn) {
            options.warn(
                fmt::format("{}: read without its write-ahead log, which this user may not open; the newest rows may "
                            "be missing",
                            path.string()));
        }
    }
    return Store(std::make_unique<Impl>(Impl{std::move(database), options.warn, options.version_here}));
}

void Store::copy_untouched(const fs::path& from, const fs::path& target) {
    if (const auto damage = Database::damage_of(from, Access::untouched)) throw damaged(from, *damage);
    const Database source = Database::open(from, Access::untouched);
    require_known(source, shipped_migrations());
    require_schema(source, shipped_migrations());
    source.copy_to(target);
}

const fs::path& Store::path() const {
    return impl_->database.path();
}
const Database& Store::database() const {
    return impl_->database;
}
int Store::schema() const {
    return static_cast<int>(impl_->database.integer("PRAGMA user_version", "reading its schema number"));
}
Transaction Store::transaction() {
    return Transaction(impl_->database);
}

std::string stand_in_name(const Fingerprint& fingerprint) {
    return fingerprint.text().substr(0, 12);
}

std::optional<std::int64_t> Store::find_graph_id(const Fingerprint& fingerprint) const {
    Statement s = impl_->database.prepare("SELECT id FROM graph WHERE fingerprint = ?", "looking up a graph");
    return impl_->first_id(s.bind(fingerprint.text()));
}

std::int64_t Store::graph_id(const GraphRecord& graph) {
    if (!graph.features_json.empty()) require_json(graph.features_json, impl_->database);
    return impl_->write([&] {
        const std::string features = graph.features_json.empty() ? "{}" : graph.features_json;
        impl_->cached(kInsertGraph, "adding a graph")
            .bind(graph.fingerprint.text(), graph.n_rows, graph.n_cols, graph.m, graph.name, graph.source, features)
            .run();
        Statement known = impl_->database.prepare(
            "SELECT id, n_rows, n_cols, m, name, features FROM graph WHERE fingerprint = ?", "looking up a graph");
        known.bind(graph.fingerprint.text()).step();
        const std::int64_t id = known.integer(0);
        if (known.integer(1) != graph.n_rows || known.integer(2) != graph.n_cols || known.integer(3) != graph.m) {
            // Sizes are part of the fingerprint, which was made of the graph in hand: the row is what is damaged.
            if (impl_->warn) {
                impl_->warn(
                    fmt::format("{}: the graph {} had {} rows, {} columns and {} edges there, and has {}, {} and {}; "
                                "that is corrected",
                                path().string(), known.view(4), known.view(1), known.view(2), known.view(3),
                                graph.n_rows, graph.n_cols, graph.m));
            }
            impl_->cached("UPDATE graph SET n_rows = ?, n_cols = ?, m = ? WHERE id = ?", "correcting a graph")
                .bind(graph.n_rows, graph.n_cols, graph.m, id)
                .run();
        }
        const std::string name = known.text(4);
        const bool other_features = features != "{}" && known.view(5) != features;
        const std::string stand_in = stand_in_name(graph.fingerprint);
        if (!graph.name.empty() && graph.name != name && graph.name != stand_in) {
            if (name == stand_in) {
                impl_->cached("UPDATE graph SET name = ?, source = ? WHERE id = ?", "naming a graph")
                    .bind(graph.name, graph.source, id)
                    .run();
                // It may have been kept beside the other one.
                impl_->cached("DELETE FROM graph_name WHERE graph_id = ? AND name = ?", "naming a graph")
                    .bind(id, graph.name)
                    .run();
            } else {
                impl_
                    ->cached("INSERT INTO graph_name (graph_id, name, source) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                             "adding a name of a graph")
                    .bind(id, graph.name, graph.source)
                    .run();
            }
        }
        if (other_features) {
            impl_->cached("UPDATE graph SET features = ? WHERE id = ?", "noting a graph's features")
                .bind(features, id)
                .run();
        }
        return id;
    });
}

std::optional<std::int64_t> Store::find_environment_id(const Environment& e) const {
    Statement s = impl_->database.prepare(fmt::format("SELECT id FROM environment WHERE {}", kEnvironmentMatch),
                                          "looking up an environment");
    return impl_->first_id(s.bind(to_text(e.backend), e.device_name, e.compute_capability, e.multiprocessors,
                                  e.memory_bytes, e.l2_bytes, e.driver, e.cuda_runtime, e.libraries));
}

std::int64_t Store::environment_id(const Environment& e) {
    if (const auto id = find_environment_id(e)) return *id;
    return impl_->write([&] {
        impl_->database
            .prepare(
                fmt::format("INSERT INTO environment ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                            kEnvironmentColumns),
                "adding an environment")
            .bind(to_text(e.backend), e.device_name, e.compute_capability, e.multiprocessors, e.memory_bytes,
                  e.l2_bytes, e.driver, e.cuda_runtime, e.libraries)
            .run();
        return find_environment_id(e).value();
    });
}

std::optional<std::int64_t> Store::find_problem_id(const Problem& p) const {
    Statement s =
        impl_->database.prepare(fmt::format("SELECT id FROM problem WHERE {}", kProblemMatch), "looking up a problem");
    return impl_->first_id(s.bind(to_text(p.op), p.k, p.heads, to_text(p.dtype), to_text(p.reduce), p.weighted,
                                  to_text(p.direction), p.self_loop));
}

std::int64_t Store::problem_id(const Problem& p) {
    validate(p);
    if (const auto id = find_problem_id(p)) return *id;
    return impl_->write([&] {
        impl_->database
            .prepare(
                fmt::format("INSERT INTO problem ({}, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                            kProblemColumns),
                "adding a problem")
            .bind(to_text(p.op), p.k, p.heads, to_text(p.dtype), to_text(p.reduce), p.weighted, to_text(p.direction),
                  p.self_loop, to_text(p))
            .run();
        return find_problem_id(p).value();
    });
}

}  // namespace gnntune::store
