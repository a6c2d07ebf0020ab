// Store: what is asked of one (graph, environment, problem).
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/store/impl.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

/// parts_text() of a measurement, in SQL.
constexpr std::string_view kPartsText =
    "coalesce((SELECT group_concat(config || '@' || variant_version, ' ') FROM "
    "(SELECT config, variant_version FROM part WHERE measurement_id = measurement.id ORDER BY position)), '')";

// A name that this build does not know is passed over: a later one may count more.
void set_counter(Counters& counters, std::string_view name, double value) {
    for (const CounterField& field : kCounterFields) {
        if (name == field.name) counters.*field.value = value;
    }
}

}  // namespace

std::size_t AttemptHash::operator()(const Attempt& attempt) const noexcept {
    std::size_t h = std::hash<std::string>()(attempt.config);
    for (const std::size_t v :
         {static_cast<std::size_t>(attempt.variant_version), static_cast<std::size_t>(attempt.policy),
          static_cast<std::size_t>(attempt.clock), std::hash<std::string>()(attempt.parts)}) {
        h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    }
    return h;
}

std::string parts_text(std::span<const PartVersion> parts) {
    std::string out;
    for (const PartVersion& part : parts) {
        if (!out.empty()) out += ' ';
        out += part.config.text() + '@' + std::to_string(part.variant_version);
    }
    return out;
}

AttemptSet Store::done(const Key& key) const {
    Statement s =
        database().prepare(fmt::format("SELECT DISTINCT config, variant_version, policy, clock, {} FROM measurement "
                                       "WHERE graph_id = ? AND environment_id = ? AND problem_id = ? "
                                       "AND status <> 'failed' AND NOT (status = 'ok' AND reason GLOB '{}*')",
                                       kPartsText, kStoppedEarly),
                           "listing finished attempts");
    s.bind(key.graph, key.environment, key.problem);
    AttemptSet done;
    while (s.step()) {
        impl_->reads([&] {
            done.insert({s.text(0), s.integer32(1), policy_from(s.view(2)), clock_from(s.view(3)), s.text(4)});
        });
    }
    return done;
}

std::vector<Key> Store::measured(Policy policy, Clock clock) const {
    Statement s = database().prepare(
        "SELECT DISTINCT graph_id, environment_id, problem_id FROM measurement WHERE policy = ? AND clock = ? "
        "ORDER BY graph_id, environment_id, problem_id",
        "listing what has measurements");
    s.bind(to_text(policy), to_text(clock));
    std::vector<Key> out;
    while (s.step()) out.push_back({s.integer(0), s.integer(1), s.integer(2)});
    return out;
}

std::vector<StoredMeasurement> Store::stored_measurements(const Key& key, const MeasurementFilter& filter) const {
    const auto word = [](const auto& value) {
        return value ? std::optional<std::string_view>(to_text(*value)) : std::nullopt;
    };
    constexpr std::string_view kWhere =
        "graph_id = ?1 AND environment_id = ?2 AND problem_id = ?3 AND (?4 IS NULL OR policy = ?4) AND "
        "(?5 IS NULL OR clock = ?5) AND (?6 IS NULL OR run_id = ?6)";
    Statement part_rows = database().prepare(
        fmt::format("SELECT measurement_id, part.config, part.variant_version FROM part "
                    "JOIN measurement ON measurement.id = measurement_id WHERE {} ORDER BY measurement_id, position",
                    kWhere),
        "reading parts of measurements");
    part_rows.bind(key.graph, key.environment, key.problem, word(filter.policy), word(filter.clock), filter.run);
    std::map<std::int64_t, std::vector<PartVersion>> parts;
    std::set<std::int64_t> unreadable;  // of which a part is
    while (part_rows.step()) {
        const bool reads = impl_->reads([&] {
            parts[part_rows.integer(0)].push_back({config_from(part_rows.view(1)), part_rows.integer32(2)});
        });
        if (!reads) unreadable.insert(part_rows.integer(0));
    }

    Statement counter_rows =
        database().prepare(fmt::format("SELECT measurement_id, name, value FROM counter "
                                       "JOIN measurement ON measurement.id = measurement_id WHERE {}",
                                       kWhere),
                           "reading counters of measurements");
    counter_rows.bind(key.graph, key.environment, key.problem, word(filter.policy), word(filter.clock), filter.run);
    std::map<std::int64_t, Counters> counters;
    while (counter_rows.step()) {
        set_counter(counters[counter_rows.integer(0)], counter_rows.view(1), counter_rows.real(2));
    }

    Statement s = database().prepare(
        fmt::format("SELECT id, run_id, {} FROM measurement WHERE {} ORDER BY id", kMeasurementColumns, kWhere),
        "reading measurements");
    s.bind(key.graph, key.environment, key.problem, word(filter.policy), word(filter.clock), filter.run);
    std::vector<StoredMeasurement> rows;
    while (s.step()) {
        if (unreadable.contains(s.integer(0))) continue;
        StoredMeasurement row{s.integer(0), s.integer(1), {}};
        if (!impl_->reads([&] { row.measurement = read_measurement(s, 2); })) continue;
        if (const auto found = parts.find(row.id); found != parts.end())
            row.measurement.parts = std::move(found->second);
        if (const auto found = counters.find(row.id); found != counters.end()) row.measurement.counters = found->second;
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<Measurement> Store::measurements(const Key& key, const MeasurementFilter& filter) const {
    std::vector<Measurement> out;
    for (auto& row : stored_measurements(key, filter)) out.push_back(std::move(row.measurement));
    return out;
}

std::optional<Choice> Store::choice(const Key& key, Policy policy, Clock clock) const {
    Statement s = database().prepare(
        "SELECT config, variant_version, source, reason, expected_us, tied FROM choice "
        "WHERE graph_id = ? AND environment_id = ? AND problem_id = ? AND policy = ? AND clock = ?",
        "reading a choice");
    if (!s.bind(key.graph, key.environment, key.problem, to_text(policy), to_text(clock)).step()) return std::nullopt;
    try {
        return Choice{config_from(s.view(0)), s.integer32(1), s.text(2), s.text(3), s.real(4), tied_from(s.text(5))};
    } catch (const Error&) {  // check() names it; a new choice replaces it
        return std::nullopt;
    }
}

std::vector<FormatBuild> Store::format_builds(std::int64_t graph, std::int64_t environment) const {
    Statement s = database().prepare(
        "SELECT base, format, direction, build_us, bytes FROM format_build "
        "WHERE graph_id = ? AND environment_id = ? ORDER BY base, format, direction",
        "reading the cost of formats");
    s.bind(graph, environment);
    std::vector<FormatBuild> out;
    while (s.step()) {
        if (const auto direction = parse_direction(s.view(2))) {
            out.push_back({s.text(0), s.text(1), *direction, s.real(3), s.integer(4)});
        }
    }
    return out;
}

std::vector<DeviceConstant> Store::device_constants(std::int64_t environment, std::string_view name) const {
    Statement s = database().prepare(
        "SELECT name, table_bytes, row_bytes, value, unit, taken_at FROM device_constant "
        "WHERE environment_id = ?1 AND (?2 = '' OR name = ?2) ORDER BY name, table_bytes, row_bytes",
        "reading device constants");
    s.bind(environment, name);
    std::vector<DeviceConstant> out;
    while (s.step()) out.push_back({s.text(0), s.integer(1), s.integer(2), s.real(3), s.text(4), s.text(5)});
    return out;
}

std::string to_text(const ModelRow& m) {
    return fmt::format("{}, {}, policy {}, clock {}, fitted {} by gnntune {}{}", gnntune::to_text(m.op),
                       gnntune::to_text(m.backend), gnntune::to_text(m.policy), gnntune::to_text(m.clock), m.fitted_at,
                       m.tool_version, m.git_commit.empty() ? "" : " (" + m.git_commit + ")");
}

std::vector<ModelRow> Store::models(std::optional<Backend> backend) const {
    Statement s = database().prepare(
        "SELECT op, backend, policy, clock, feature_version, bytes, training, scores, tool_version, git_commit, "
        "fitted_at FROM model WHERE ?1 IS NULL OR backend = ?1 ORDER BY op, backend, policy, clock",
        "reading cost models");
    s.bind(backend ? std::optional<std::string_view>(gnntune::to_text(*backend)) : std::nullopt);
    std::vector<ModelRow> out;
    while (s.step()) {
        impl_->reads([&] {
            out.push_back({op_from(s.view(0)), backend_from(s.view(1)), policy_from(s.view(2)), clock_from(s.view(3)),
                           s.integer32(4), s.text(5), s.text(6), s.text(7), s.text(8), s.text(9), s.text(10)});
        });
    }
    return out;
}

}  // namespace gnntune::store
