// Store: runs, measurements, choices and constants.
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/common/utc.hpp"
#include "profiles/store/impl.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

constexpr std::string_view kNoteVariant = R"sql(
-- A variant is deterministic if all its configs were, approximate if any was. No write if nothing is new.
INSERT INTO variant (id, version, op, backend, deterministic, approximate) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO UPDATE SET op = coalesce(op, ?3), backend = coalesce(backend, ?4),
    deterministic = coalesce(min(deterministic, ?5), deterministic, ?5),
    approximate = coalesce(max(approximate, ?6), approximate, ?6)
WHERE (op IS NULL AND ?3 NOT NULL) OR (backend IS NULL AND ?4 NOT NULL)
   OR (?5 NOT NULL AND deterministic IS NOT coalesce(min(deterministic, ?5), ?5))
   OR (?6 NOT NULL AND approximate IS NOT coalesce(max(approximate, ?6), ?6)))sql";

constexpr std::string_view kInsertRun = R"sql(
INSERT INTO run (command, tool_version, git_commit, started_at, seed, host) VALUES (?, ?, ?, ?, ?, ?))sql";

constexpr std::string_view kKeyOwner = R"sql(
SELECT problem.op, environment.backend FROM problem, environment WHERE problem.id = ? AND environment.id = ?)sql";

constexpr std::string_view kInsertMeasurement = R"sql(
INSERT INTO measurement (run_id, graph_id, environment_id, problem_id, config, variant, variant_version, policy, clock,
    status, reason, median_us, q1_us, q3_us, min_us, ci_low_us, ci_high_us, samples, sm_clock_mhz, prepare_us,
    workspace_bytes, format_bytes, deterministic, approximate, max_error, mean_error, worst_ratio, taken_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql";

constexpr std::string_view kCounting = R"sql(
SELECT max(id) FROM measurement WHERE graph_id = ? AND environment_id = ? AND problem_id = ? AND policy = ? AND clock = ?
    AND config = ? AND variant_version = ? AND status <> 'failed')sql";

constexpr std::string_view kInsertPart = R"sql(
INSERT INTO part (measurement_id, position, config, variant, variant_version) VALUES (?, ?, ?, ?, ?))sql";

constexpr std::string_view kInsertCounter = R"sql(
INSERT INTO counter (measurement_id, name, value, taken_at) VALUES (?, ?, ?, ?))sql";

constexpr std::string_view kSetChoice = R"sql(
INSERT INTO choice (graph_id, environment_id, problem_id, policy, clock, config, variant, variant_version, source,
    reason, expected_us, tied, run_id, decided_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (graph_id, environment_id, problem_id, policy, clock) DO UPDATE SET
    config = excluded.config, variant = excluded.variant, variant_version = excluded.variant_version,
    source = excluded.source, reason = excluded.reason, expected_us = excluded.expected_us, tied = excluded.tied,
    run_id = excluded.run_id, decided_at = excluded.decided_at)sql";

constexpr std::string_view kPutConstant = R"sql(
INSERT INTO device_constant (environment_id, name, table_bytes, row_bytes, value, unit, taken_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value, unit = excluded.unit, taken_at = excluded.taken_at)sql";

constexpr std::string_view kPutModel = R"sql(
INSERT OR REPLACE INTO model (op, backend, policy, clock, feature_version, bytes, training, scores, tool_version,
    git_commit, fitted_at)
VALUES (?, ?, ?, ?, ?, CAST(? AS BLOB), ?, ?, ?, ?, ?))sql";

}  // namespace

void Store::Impl::note_variant(const std::string& id, std::int32_t version, std::optional<std::string_view> op,
                               std::optional<std::string_view> backend, std::optional<bool> deterministic,
                               std::optional<bool> approximate) {
    cached(kNoteVariant, "noting a variant").bind(id, version, op, backend, deterministic, approximate).run();
}

std::int64_t Store::begin_run(const RunInfo& info) {
    return impl_->write([&] {
        impl_->cached(kInsertRun, "beginning a run")
            .bind(info.command, info.tool_version, info.git_commit, utc_now(), info.seed, info.host)
            .run();
        const std::int64_t id = impl_->database.last_insert_id();
        if (impl_->database.has_table("run_identity")) {  // not where OpenOptions::migrations ends before it
            // The time comes first, so that of runs of one second the one that began later is the later.
            const auto now = std::chrono::system_clock::now().time_since_epoch();
            impl_->cached("INSERT INTO run_identity VALUES (?, ? || lower(hex(randomblob(8))))", "naming a run")
                .bind(id, fmt::format("{:016x}", std::chrono::duration_cast<std::chrono::microseconds>(now).count()))
                .run();
        }
        return id;
    });
}

void Store::end_run(std::int64_t run) {
    impl_->write([&] {
        impl_->cached("UPDATE run SET ended_at = ? WHERE id = ?", "ending a run").bind(utc_now(), run).run();
        return 0;
    });
}

std::int64_t Store::add_measurement(std::int64_t run, const Key& key, const Measurement& m) {
    const bool ok = m.status == MeasurementStatus::ok;
    const bool timed = ok || m.status == MeasurementStatus::abandoned;
    if (ok && !(m.median_us > 0 && std::isfinite(m.median_us))) {
        throw invalid_argument(
            fmt::format("measurement of {}: status ok with a median of {} us", m.config.text(), m.median_us));
    }
    const auto time = [timed](double us) { return timed ? std::optional(us) : std::nullopt; };
    const auto add = [&] {
        Statement& owner = impl_->cached(kKeyOwner, "looking up a measurement's key");
        if (!owner.bind(key.problem, key.environment).step()) {
            throw invalid_argument(
                fmt::format("no problem {} or no environment {} in {}", key.problem, key.environment, path().string()));
        }
        const std::string op = owner.text(0);
        const std::string backend = owner.text(1);
        owner.run();
        if (m.disturbed()) {
            Statement& counting = impl_->cached(kCounting, "looking for a row that counts");
            const std::string config = m.config.text();
            const bool found = counting
                                   .bind(key.graph, key.environment, key.problem, to_text(m.policy), to_text(m.clock),
                                         config, m.variant_version)
                                   .step() &&
                               !counting.is_null(0);
            const std::int64_t id = found ? counting.integer(0) : 0;
            counting.run();
            if (found) return id;
        }
        // Only a passed check shows what the variant is; a refusal may not know.
        impl_->note_variant(m.config.variant, m.variant_version, op, backend,
                            ok ? std::optional(m.deterministic) : std::nullopt,
                            ok ? std::optional(m.approximate) : std::nullopt);
        impl_->cached(kInsertMeasurement, "adding a measurement")
            .bind(run, key.graph, key.environment, key.problem, m.config.text(), m.config.variant, m.variant_version,
                  to_text(m.policy), to_text(m.clock), to_text(m.status), m.reason, time(m.median_us), time(m.q1_us),
                  time(m.q3_us), time(m.min_us), time(m.ci_low_us), time(m.ci_high_us), m.samples, m.sm_clock_mhz,
                  m.prepare_us, m.workspace_bytes, m.format_bytes, m.deterministic, m.approximate, m.max_error,
                  m.mean_error, m.worst_ratio, m.taken_at.empty() ? utc_now() : m.taken_at)
            .run();
        const std::int64_t id = impl_->database.last_insert_id();
        std::int64_t position = 0;
        for (const PartVersion& part : m.parts) {
            impl_->note_variant(part.config.variant, part.variant_version, {}, {}, {}, {});
            impl_->cached(kInsertPart, "adding a part of a measurement")
                .bind(id, position++, part.config.text(), part.config.variant, part.variant_version)
                .run();
        }
        if (m.counters) impl_->replace_counters(id, *m.counters);
        return id;
    };
    try {
        return impl_->write(add);
    } catch (const FileMoved& moved) {
        if (!moved.committed()) impl_->unsaved.push_back({run, key, m});  // for save_elsewhere()
        throw;
    }
}

void Store::Impl::replace_counters(std::int64_t measurement, const Counters& counters) {
    cached("DELETE FROM counter WHERE measurement_id = ?", "clearing counters").bind(measurement).run();
    const std::string now = utc_now();
    for (const CounterField& field : kCounterFields) {
        const auto& value = counters.*field.value;
        if (!value) continue;
        cached(kInsertCounter, "adding a counter").bind(measurement, field.name, *value, now).run();
    }
}

void Store::put_counters(std::int64_t measurement, const Counters& counters) {
    impl_->write([&] {
        impl_->replace_counters(measurement, counters);
        return 0;
    });
}

void Store::Impl::require_measured(const Key& key, Policy policy, Clock clock, const Config& config,
                                   std::int32_t version) {
    Statement support = database.prepare(
        "SELECT 1 FROM measurement WHERE graph_id = ? AND environment_id = ? AND problem_id = ? AND policy = ? AND "
        "clock = ? AND config = ? AND variant_version = ? AND status = 'ok'",
        "looking for a choice's measurement");
    const std::string text = config.text();
    if (support.bind(key.graph, key.environment, key.problem, to_text(policy), to_text(clock), text, version).step()) {
        return;
    }
    throw invalid_argument(
        fmt::format("cannot choose {} version {} as measured: no ok {} measurement of it by clock {} is stored", text,
                    version, to_text(policy), to_text(clock)));
}

void Store::set_choice(std::int64_t run, const Key& key, Policy policy, Clock clock, const Choice& choice) {
    const std::string config = choice.config.text();
    impl_->write([&] {
        if (choice.source == "measured") {
            impl_->require_measured(key, policy, clock, choice.config, choice.variant_version);
        }
        impl_->note_variant(choice.config.variant, choice.variant_version, {}, {}, {}, {});
        impl_->cached(kSetChoice, "setting a choice")
            .bind(key.graph, key.environment, key.problem, to_text(policy), to_text(clock), config,
                  choice.config.variant, choice.variant_version, choice.source, choice.reason, choice.expected_us,
                  tied_text(choice.tied), run, utc_now())
            .run();
        return 0;
    });
}

void Store::put_format_build(std::int64_t graph, std::int64_t environment, const FormatBuild& b) {
    impl_->write([&] {
        impl_->cached("INSERT OR REPLACE INTO format_build VALUES (?, ?, ?, ?, ?, ?, ?, ?)", "storing a format's cost")
            .bind(graph, environment, b.base, b.format, to_text(b.direction), b.build_us, b.bytes, utc_now())
            .run();
        return 0;
    });
}

void Store::put_device_constant(std::int64_t environment, const DeviceConstant& c) {
    impl_->write([&] {
        impl_->cached(kPutConstant, "storing a device constant")
            .bind(environment, c.name, c.table_bytes, c.row_bytes, c.value, c.unit,
                  c.taken_at.empty() ? utc_now() : c.taken_at)
            .run();
        return 0;
    });
}

void Store::put_model(const ModelRow& m) {
    impl_->write([&] {
        impl_->cached(kPutModel, "storing a cost model")
            .bind(to_text(m.op), to_text(m.backend), to_text(m.policy), to_text(m.clock), m.feature_version, m.bytes,
                  m.training, m.scores, m.tool_version, m.git_commit, m.fitted_at.empty() ? utc_now() : m.fitted_at)
            .run();
        return 0;
    });
}

bool Store::remove_model(Op op, Backend backend, Policy policy, Clock clock) {
    return impl_->write([&] {
        impl_
            ->cached("DELETE FROM model WHERE op = ? AND backend = ? AND policy = ? AND clock = ?",
                     "removing a cost model")
            .bind(to_text(op), to_text(backend), to_text(policy), to_text(clock))
            .run();
        return database().integer("SELECT changes()", "removing a cost model") > 0;
    });
}

}  // namespace gnntune::store
