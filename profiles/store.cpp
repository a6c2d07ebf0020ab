#include "profiles/store.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/rows.hpp"

namespace gnntune::store {
namespace {

namespace fs = std::filesystem;

/// Sets the journal mode if it is another one. SQLite does not wait for locks when it switches, so this does.
void set_journal(const Database& database, std::string_view mode, const OpenOptions& options) {
    constexpr int kTries = 50;
    for (int i = 0; database.text("PRAGMA journal_mode", "reading its journal mode") != mode; ++i) {
        try {
            const std::string now = database.text(fmt::format("PRAGMA journal_mode = {}", mode), "setting its journal mode");
            if (now == mode) return;
        } catch (const Error&) {
            // Busy: another process is switching or recovering; the file works in either mode.
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
            options.warn(fmt::format("{}: lies on {}, where SQLite's write-ahead log is not safe; using the slower rollback "
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

bool is_default_place(const fs::path& path) {
    try {
        return path == default_user_database();
    } catch (const Error&) {
        return false;  // none of its variables is set
    }
}

void require_json(const std::string& features, const Database& database) {
    Statement valid = database.prepare("SELECT json_valid(?)", "checking a graph's features");
    valid.bind(features).step();
    if (!valid.boolean(0)) throw invalid_argument("the features of a graph are no JSON: " + features.substr(0, 80));
}

}  // namespace

std::size_t AttemptHash::operator()(const Attempt& attempt) const noexcept {
    std::size_t h = std::hash<std::string>()(attempt.config);
    for (const std::size_t v : {static_cast<std::size_t>(attempt.variant_version), static_cast<std::size_t>(attempt.policy),
                                static_cast<std::size_t>(attempt.clock), std::hash<std::string>()(attempt.parts)}) {
        h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    }
    return h;
}

std::string parts_text(std::span<const Part> parts) {
    std::string out;
    for (const Part& part : parts) {
        if (!out.empty()) out += ' ';
        out += part.config.text() + '@' + std::to_string(part.variant_version);
    }
    return out;
}

struct Store::Impl {
    Database database;
    /// Statements of the writing functions, compiled once. Reading functions compile theirs per call: a statement that is
    /// left on a row would hold a read lock.
    std::unordered_map<std::string_view, Statement> statements{};

    Statement& cached(std::string_view literal, std::string_view doing) {
        const auto found = statements.find(literal);
        if (found != statements.end()) return found->second;
        return statements.emplace(literal, database.prepare(literal, doing)).first->second;
    }

    /// One commit per call, unless the caller has a transaction open.
    template <class F>
    auto write(F&& body) {
        if (database.in_transaction()) {
            Savepoint savepoint(database);
            auto result = body();
            savepoint.release();
            return result;
        }
        Transaction transaction(database);
        auto result = body();
        transaction.commit();
        return result;
    }

    /// Makes the row that foreign keys need, and fills in what this caller knows and no one before did.
    void note_variant(const std::string& id, std::int32_t version, std::optional<std::string_view> op,
                      std::optional<std::string_view> backend, std::optional<bool> deterministic,
                      std::optional<bool> approximate) {
        // A variant is deterministic if all its configs were, approximate if any was.
        cached("INSERT INTO variant (id, version, op, backend, deterministic, approximate) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
               "ON CONFLICT DO UPDATE SET op = coalesce(op, ?3), backend = coalesce(backend, ?4), "
               "deterministic = coalesce(min(deterministic, ?5), deterministic, ?5), "
               "approximate = coalesce(max(approximate, ?6), approximate, ?6) "
               "WHERE (op IS NULL AND ?3 NOT NULL) OR (backend IS NULL AND ?4 NOT NULL) "
               "OR (?5 NOT NULL AND deterministic IS NOT coalesce(min(deterministic, ?5), ?5)) "
               "OR (?6 NOT NULL AND approximate IS NOT coalesce(max(approximate, ?6), ?6))",
               "noting a variant")
            .bind(id, version, op, backend, deterministic, approximate)
            .run();
    }

    std::optional<std::int64_t> first_id(Statement& statement) const {
        if (!statement.step()) return std::nullopt;
        return statement.integer(0);
    }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const fs::path& path, Mode mode, const OpenOptions& options) {
    const bool writing = mode == Mode::read_write_create;
    if (writing && path.has_parent_path() && !fs::exists(path.parent_path())) {
        // Only the default place is made; a mistyped folder is an error.
        std::error_code code;
        if (is_default_place(path)) fs::create_directories(path.parent_path(), code);
        if (!fs::exists(path.parent_path())) {
            throw database_error(fmt::format("{}: the folder {} does not exist{}", path.string(), path.parent_path().string(),
                                             code ? " and cannot be made: " + code.message() : ""));
        }
    }
    Database database = Database::open(path, writing ? Access::read_write_create : Access::read_only);
    require_known(database, options.migrations);
    if (writing) {
        if (database.is_read_only()) {
            throw database_error(path.string() + ": cannot be written (the file or its medium is read-only); copy it to a "
                                                 "place that can, or open it for reading");
        }
        prepare_for_writing(database, options);
    } else {
        const std::int64_t found = database.integer("PRAGMA user_version", "reading its schema number");
        const int known = schema_version(options.migrations);
        if (found < known) {
            throw database_error(fmt::format("{}: has schema {}, this gnntune reads schema {}; open it once for writing (any "
                                             "`gnntune tune --db` does) to move it forward, a copy is kept",
                                             path.string(), found, known));
        }
        std::error_code code;
        const auto log_bytes = fs::file_size(path.string() + "-wal", code);
        if (database.access() == Access::immutable && !code && log_bytes > 0 && options.warn) {
            options.warn(fmt::format("{}: read without its write-ahead log, which this user may not open; the newest rows may "
                                     "be missing",
                                     path.string()));
        }
    }
    return Store(std::make_unique<Impl>(Impl{std::move(database)}));
}

const fs::path& Store::path() const { return impl_->database.path(); }
const Database& Store::database() const { return impl_->database; }
int Store::schema() const {
    return static_cast<int>(impl_->database.integer("PRAGMA user_version", "reading its schema number"));
}
Transaction Store::transaction() { return Transaction(impl_->database); }

std::optional<std::int64_t> Store::find_graph_id(const Fingerprint& fingerprint) const {
    Statement s = impl_->database.prepare("SELECT id FROM graph WHERE fingerprint = ?", "looking up a graph");
    return impl_->first_id(s.bind(fingerprint.text()));
}

std::int64_t Store::graph_id(const GraphRecord& graph) {
    if (!graph.features_json.empty()) require_json(graph.features_json, impl_->database);
    return impl_->write([&] {
        const std::string features = graph.features_json.empty() ? "{}" : graph.features_json;
        impl_->cached("INSERT INTO graph (fingerprint, n_rows, n_cols, m, name, source, features) VALUES (?, ?, ?, ?, ?, ?, ?) "
                      "ON CONFLICT DO NOTHING", "adding a graph")
            .bind(graph.fingerprint.text(), graph.n_rows, graph.n_cols, graph.m, graph.name, graph.source, features)
            .run();
        Statement known = impl_->database.prepare("SELECT id, n_rows, n_cols, m, name, features FROM graph WHERE fingerprint = ?",
                                                  "looking up a graph");
        known.bind(graph.fingerprint.text()).step();
        const std::int64_t id = known.integer(0);
        if (known.integer(1) != graph.n_rows || known.integer(2) != graph.n_cols || known.integer(3) != graph.m) {
            throw invalid_argument(fmt::format("graph '{}' has the fingerprint of '{}' but other sizes", graph.name, known.view(4)));
        }
        if (!graph.name.empty() && known.view(4) != graph.name) {
            impl_->cached("INSERT INTO graph_name (graph_id, name, source) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                          "adding a name of a graph")
                .bind(id, graph.name, graph.source)
                .run();
        }
        if (features != "{}" && known.view(5) != features) {
            impl_->cached("UPDATE graph SET features = ? WHERE id = ?", "noting a graph's features").bind(features, id).run();
        }
        return id;
    });
}

std::optional<std::int64_t> Store::find_environment_id(const Environment& e) const {
    Statement s = impl_->database.prepare(fmt::format("SELECT id FROM environment WHERE {}", kEnvironmentMatch),
                                          "looking up an environment");
    return impl_->first_id(s.bind(to_text(e.backend), e.device_name, e.compute_capability, e.multiprocessors, e.memory_bytes,
                                  e.l2_bytes, e.driver, e.cuda_runtime, e.libraries));
}

std::int64_t Store::environment_id(const Environment& e) {
    if (const auto id = find_environment_id(e)) return *id;
    return impl_->write([&] {
        impl_->database
            .prepare(fmt::format("INSERT INTO environment ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                                 kEnvironmentColumns), "adding an environment")
            .bind(to_text(e.backend), e.device_name, e.compute_capability, e.multiprocessors, e.memory_bytes, e.l2_bytes,
                  e.driver, e.cuda_runtime, e.libraries)
            .run();
        return find_environment_id(e).value();
    });
}

std::optional<std::int64_t> Store::find_problem_id(const Problem& p) const {
    Statement s = impl_->database.prepare(fmt::format("SELECT id FROM problem WHERE {}", kProblemMatch), "looking up a problem");
    return impl_->first_id(s.bind(to_text(p.op), p.k, p.heads, to_text(p.dtype), to_text(p.reduce), p.weighted,
                                  to_text(p.direction)));
}

std::int64_t Store::problem_id(const Problem& p) {
    validate(p);
    if (const auto id = find_problem_id(p)) return *id;
    return impl_->write([&] {
        impl_->database
            .prepare(fmt::format("INSERT INTO problem ({}, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                                 kProblemColumns), "adding a problem")
            .bind(to_text(p.op), p.k, p.heads, to_text(p.dtype), to_text(p.reduce), p.weighted, to_text(p.direction), to_text(p))
            .run();
        return find_problem_id(p).value();
    });
}

std::int64_t Store::begin_run(const RunInfo& info) {
    return impl_->write([&] {
        impl_->cached("INSERT INTO run (command, tool_version, git_commit, started_at, seed, host) VALUES (?, ?, ?, ?, ?, ?)",
                      "beginning a run")
            .bind(info.command, info.tool_version, info.git_commit, utc_now(), info.seed, info.host)
            .run();
        return impl_->database.last_insert_id();
    });
}

void Store::end_run(std::int64_t run) {
    impl_->write([&] {
        impl_->cached("UPDATE run SET ended_at = ? WHERE id = ?", "ending a run").bind(utc_now(), run).run();
        return 0;
    });
}

std::int64_t Store::add_measurement(std::int64_t run, const Key& key, const Measurement& m, std::span<const Part> parts) {
    const bool ok = m.status == MeasurementStatus::ok;
    const bool timed = ok || m.status == MeasurementStatus::abandoned;
    if (ok && !(m.median_us > 0 && std::isfinite(m.median_us))) {
        throw invalid_argument(fmt::format("measurement of {}: status ok with a median of {} us", m.config.text(), m.median_us));
    }
    const auto time = [timed](double us) { return timed ? std::optional(us) : std::nullopt; };
    return impl_->write([&] {
        Statement& owner = impl_->cached("SELECT problem.op, environment.backend FROM problem, environment "
                                         "WHERE problem.id = ? AND environment.id = ?", "looking up a measurement's key");
        if (!owner.bind(key.problem, key.environment).step()) {
            throw invalid_argument(fmt::format("no problem {} or no environment {} in {}", key.problem, key.environment,
                                               path().string()));
        }
        const std::string op = owner.text(0);
        const std::string backend = owner.text(1);
        owner.run();
        // Only a passed check shows what the variant is; a refusal may not know.
        impl_->note_variant(m.config.variant, m.variant_version, op, backend, ok ? std::optional(m.deterministic) : std::nullopt,
                            ok ? std::optional(m.approximate) : std::nullopt);
        impl_->cached("INSERT INTO measurement (run_id, graph_id, environment_id, problem_id, config, variant, variant_version, "
                      "policy, clock, status, reason, median_us, q1_us, q3_us, min_us, ci_low_us, ci_high_us, samples, "
                      "sm_clock_mhz, prepare_us, workspace_bytes, format_bytes, deterministic, approximate, max_error, "
                      "mean_error, worst_ratio, taken_at) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      "adding a measurement")
            .bind(run, key.graph, key.environment, key.problem, m.config.text(), m.config.variant, m.variant_version,
                  to_text(m.policy), to_text(m.clock), to_text(m.status), m.reason, time(m.median_us), time(m.q1_us),
                  time(m.q3_us), time(m.min_us), time(m.ci_low_us), time(m.ci_high_us), m.samples, m.sm_clock_mhz, m.prepare_us,
                  m.workspace_bytes, m.format_bytes, m.deterministic, m.approximate, m.max_error, m.mean_error, m.worst_ratio,
                  m.taken_at.empty() ? utc_now() : m.taken_at)
            .run();
        const std::int64_t id = impl_->database.last_insert_id();
        std::int64_t position = 0;
        for (const Part& part : parts) {
            impl_->note_variant(part.config.variant, part.variant_version, {}, {}, {}, {});
            impl_->cached("INSERT INTO part (measurement_id, position, config, variant, variant_version) VALUES (?, ?, ?, ?, ?)",
                          "adding a part of a measurement")
                .bind(id, position++, part.config.text(), part.config.variant, part.variant_version)
                .run();
        }
        return id;
    });
}

void Store::set_choice(std::int64_t run, const Key& key, Policy policy, Clock clock, const Choice& choice) {
    const std::string config = choice.config.text();
    impl_->write([&] {
        if (choice.source == "measured") {
            Statement support = impl_->database.prepare(
                "SELECT 1 FROM measurement WHERE graph_id = ? AND environment_id = ? AND problem_id = ? AND policy = ? AND "
                "clock = ? AND config = ? AND variant_version = ? AND status = 'ok'", "looking for a choice's measurement");
            if (!support.bind(key.graph, key.environment, key.problem, to_text(policy), to_text(clock), config,
                              choice.variant_version).step()) {
                throw invalid_argument(fmt::format("cannot choose {} version {} as measured: no ok {} measurement of it by clock "
                                                   "{} is stored", config, choice.variant_version, to_text(policy),
                                                   to_text(clock)));
            }
        }
        impl_->note_variant(choice.config.variant, choice.variant_version, {}, {}, {}, {});
        impl_->cached("INSERT INTO choice (graph_id, environment_id, problem_id, policy, clock, config, variant, "
                      "variant_version, source, reason, expected_us, tied, run_id, decided_at) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                      "ON CONFLICT (graph_id, environment_id, problem_id, policy, clock) DO UPDATE SET config = excluded.config, "
                      "variant = excluded.variant, variant_version = excluded.variant_version, source = excluded.source, "
                      "reason = excluded.reason, expected_us = excluded.expected_us, tied = excluded.tied, "
                      "run_id = excluded.run_id, decided_at = excluded.decided_at", "setting a choice")
            .bind(key.graph, key.environment, key.problem, to_text(policy), to_text(clock), config, choice.config.variant,
                  choice.variant_version, choice.source, choice.reason, choice.expected_us, tied_text(choice.tied), run, utc_now())
            .run();
        return 0;
    });
}

void Store::put_device_constant(std::int64_t environment, const DeviceConstant& c) {
    impl_->write([&] {
        impl_->cached("INSERT INTO device_constant (environment_id, name, table_bytes, row_bytes, value, unit, taken_at) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, unit = excluded.unit, "
                      "taken_at = excluded.taken_at", "storing a device constant")
            .bind(environment, c.name, c.table_bytes, c.row_bytes, c.value, c.unit, c.taken_at.empty() ? utc_now() : c.taken_at)
            .run();
        return 0;
    });
}

}  // namespace gnntune::store
