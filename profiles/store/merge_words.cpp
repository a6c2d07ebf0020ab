#include "profiles/store/merge_words.hpp"

#include <optional>

#include <fmt/format.h>

#include "core/model/model.hpp"
#include "core/model/model_features.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

// Rows of `t` in the other database and `o` in this one that have the same place.
constexpr const char* kSamePlace =
    " JOIN main.graph AS g ON g.fingerprint = (SELECT fingerprint FROM other.graph WHERE id = t.graph_id)"
    " JOIN main.problem AS p ON p.text = (SELECT text FROM other.problem WHERE id = t.problem_id)"
    " JOIN other.environment AS te ON te.id = t.environment_id"
    " JOIN main.environment AS e USING (backend, device_name, compute_capability, multiprocessors, memory_bytes,"
    " l2_bytes, driver, cuda_runtime, libraries) ";

/// Times of one config that differ by more than this are of another machine, another load, or a mistake.
constexpr double kFarApart = 2;

}  // namespace

// What the two files say differently, before anything is written. What was taken in before was said then.
std::vector<std::string> conflicts_with(const Database& database) {
    std::vector<std::string> out;
    const auto collect = [&](const std::string& sql) {
        Statement s = database.prepare(sql, "comparing the databases");
        while (s.step()) out.push_back(s.text(0));
    };
    collect(fmt::format(R"sql(
SELECT DISTINCT g.name || ', ' || p.text || ', ' || t.policy || ', ' || t.clock || ': ' || t.config || ' is ' ||
       t.status || ' there and ' || o.status || ' here; both stay, and the one measured last counts'
FROM other.measurement AS t {}
JOIN main.measurement AS o ON o.graph_id = g.id AND o.environment_id = e.id AND o.problem_id = p.id
    AND o.policy = t.policy AND o.clock = t.clock AND o.config = t.config AND o.variant_version = t.variant_version
WHERE (t.status = 'wrong') <> (o.status = 'wrong') AND t.status IN ('ok', 'wrong', 'abandoned')
  AND o.status IN ('ok', 'wrong', 'abandoned')
  AND NOT EXISTS (SELECT 1 FROM main.measurement AS s
                  WHERE s.graph_id = g.id AND s.environment_id = e.id AND s.problem_id = p.id AND s.policy = t.policy
                    AND s.clock = t.clock AND s.config = t.config AND s.variant_version = t.variant_version
                    AND s.status = t.status AND s.taken_at = t.taken_at)
ORDER BY 1)sql",
                        kSamePlace));
    collect(fmt::format(R"sql(
SELECT 'the model of ' || t.op || ' on ' || t.backend || ', ' || t.policy || ', ' || t.clock || ': fitted ' ||
       t.fitted_at || ' to ' || coalesce(json_array_length(t.training, '$.graphs'), 0) || ' graphs there and ' ||
       o.fitted_at || ' to ' || coalesce(json_array_length(o.training, '$.graphs'), 0) || ' here; the one ' ||
       iif((t.feature_version = {0}, t.feature_version, coalesce(json_array_length(t.training, '$.graphs'), 0),
            t.fitted_at <= latest, t.fitted_at, t.bytes, t.training, t.scores)
           > (o.feature_version = {0}, o.feature_version, coalesce(json_array_length(o.training, '$.graphs'), 0),
              o.fitted_at <= latest, o.fitted_at, o.bytes, o.training, o.scores), 'there', 'here')
       || ' stands: one that this build reads counts, then newer features, then more graphs, then the newer'
FROM other.model AS t JOIN main.model AS o USING (op, backend, policy, clock), temp.merge_now
WHERE o.bytes <> t.bytes AND t.id NOT IN (SELECT id FROM temp.merge_bad_model) ORDER BY 1)sql",
                        model::kFeatureVersion));
    return out;
}

// A choice of a run that is known here was compared before, unless it is newer than the one here.
std::vector<ChoiceConflict> choice_conflicts(const Database& database) {
    Statement s = database.prepare(fmt::format(R"sql(
SELECT g.id, e.id, p.id, t.policy, t.clock,
       g.name || ', ' || p.text || ', ' || t.policy || ', ' || t.clock || ': ' || t.config || ' was chosen there and ' ||
       o.config || ' here'
FROM other.choice AS t {}
JOIN main.choice AS o ON o.graph_id = g.id AND o.environment_id = e.id AND o.problem_id = p.id
    AND o.policy = t.policy AND o.clock = t.clock
JOIN temp.merge_run AS r ON r.theirs = t.run_id, temp.merge_now
WHERE o.config <> t.config
  AND (r.is_new OR (t.decided_at <= latest, t.decided_at) > (o.decided_at <= latest, o.decided_at))
ORDER BY 6)sql",
                                               kSamePlace),
                                   "comparing choices");
    std::vector<ChoiceConflict> out;
    while (s.step()) {
        out.push_back({{{s.integer(0), s.integer(1), s.integer(2)}, *parse_policy(s.view(3)), *parse_clock(s.view(4))},
                       s.text(5)});
    }
    return out;
}

std::vector<std::string> refuse_damaged_models(const Database& database) {
    constexpr std::string_view kDoing = "looking at cost models";
    database.execute("DROP TABLE IF EXISTS temp.merge_bad_model; CREATE TEMP TABLE merge_bad_model (id INTEGER)",
                     kDoing);
    Statement models =
        database.prepare("SELECT id, op, backend, feature_version, bytes FROM other.model ORDER BY id", kDoing);
    Statement bad = database.prepare("INSERT INTO temp.merge_bad_model VALUES (?)", kDoing);
    std::vector<std::string> out;
    while (models.step()) {
        const auto op = parse_op(models.view(1));
        const auto backend = parse_backend(models.view(2));
        std::optional<std::string> complaint;
        if (op && backend) {
            ModelRow row;
            row.op = *op;
            row.backend = *backend;
            row.feature_version = static_cast<std::int32_t>(models.integer(3));
            row.bytes = models.text(4);
            complaint = complaint_of(row);
        } else if (model::are_damaged(models.view(4))) {
            complaint = "its checksum does not fit";
        }
        if (!complaint) continue;
        bad.bind(models.integer(0)).run();
        out.push_back(fmt::format("the model of {} on {} there is damaged and was left out: {}", models.view(1),
                                  models.view(2), *complaint));
    }
    return out;
}

// Of the rows that are new here the last of each config, beside the last of it here.
std::vector<std::string> far_times(const Database& database) {
    Statement s = database.prepare(fmt::format(R"sql(
SELECT g.name || ', ' || p.text || ', ' || t.policy || ', ' || t.clock || ': ' || t.config || ' takes ' ||
       round(t.median_us, 1) || ' us there and ' || round(o.median_us, 1) || ' us here, ' ||
       round(max(t.median_us, o.median_us) / min(t.median_us, o.median_us), 1) ||
       ' times apart; both stay, and the one measured last counts'
FROM (SELECT max(theirs) AS theirs, n.graph_id, n.environment_id, n.problem_id
      FROM temp.merge_measurement AS n JOIN other.measurement AS row ON row.id = n.theirs
      WHERE n.is_new AND row.status = 'ok'
      GROUP BY n.graph_id, n.environment_id, n.problem_id, policy, clock, config, variant_version) AS n
JOIN other.measurement AS t ON t.id = n.theirs
JOIN main.measurement AS o ON o.id = (
    SELECT max(m.id) FROM main.measurement AS m
    WHERE m.graph_id = n.graph_id AND m.environment_id = n.environment_id AND m.problem_id = n.problem_id
      AND m.policy = t.policy AND m.clock = t.clock AND m.config = t.config AND m.variant_version = t.variant_version
      AND m.status = 'ok')
JOIN main.graph AS g ON g.id = n.graph_id JOIN main.problem AS p ON p.id = n.problem_id
WHERE max(t.median_us, o.median_us) > {} * min(t.median_us, o.median_us)
ORDER BY max(t.median_us, o.median_us) / min(t.median_us, o.median_us) DESC, 1)sql",
                                               kFarApart),
                                   "comparing times");
    std::vector<std::string> out;
    while (s.step()) out.push_back(s.text(0));
    return out;
}

std::vector<std::string> errata_words(const Database& database) {
    static constexpr std::string_view kDoing = "comparing errata";
    const auto has = [&database](const std::string& table) {
        Statement s = database.prepare("SELECT 1 FROM other.sqlite_schema WHERE type = 'table' AND name = ?", kDoing);
        return s.bind(table).step();
    };
    constexpr std::string_view kLatest = "(SELECT latest FROM temp.merge_now)";
    std::vector<std::string> out;
    if (has("erratum")) {
        Statement come = database.prepare(
            fmt::format(
                "SELECT t.condition, t.reason, o.reason, r.removed_at, "
                "r.removed_at NOT NULL AND (r.removed_at <= {0}, r.removed_at) >= (t.added_at <= {0}, t.added_at) "
                "FROM other.erratum AS t LEFT JOIN main.erratum AS o USING (condition) "
                "LEFT JOIN main.removed_erratum AS r USING (condition) ORDER BY t.id",
                kLatest),
            kDoing);
        while (come.step()) {
            if (come.boolean(4)) {
                out.push_back(fmt::format("the erratum '{}' stands there and was removed here on {}; it stays removed",
                                          come.view(0), come.view(3)));
            } else if (come.is_null(2)) {
                out.push_back(fmt::format("the erratum '{}' comes along: what it holds for runs no more here ({})",
                                          come.view(0), come.view(1)));
            }
        }
    }
    if (has("removed_erratum")) {
        Statement go = database.prepare(
            fmt::format("SELECT o.condition, o.reason, t.removed_at FROM other.removed_erratum AS t "
                        "JOIN main.erratum AS o USING (condition) "
                        "WHERE (t.removed_at <= {0}, t.removed_at) >= (o.added_at <= {0}, o.added_at) ORDER BY o.id",
                        kLatest),
            kDoing);
        while (go.step()) {
            out.push_back(
                fmt::format("the erratum '{}' was removed there on {}, and is removed here: what it held for may "
                            "run again ({})",
                            go.view(0), go.view(2), go.view(1)));
        }
    }
    return out;
}

std::vector<std::string> late_stamps(const Database& database, std::string_view schema, std::string_view latest) {
    Statement s = database.prepare(
        fmt::format(
            "SELECT count(*), max(at) FROM (SELECT taken_at AS at FROM {0}.measurement UNION ALL "
            "SELECT decided_at FROM {0}.choice UNION ALL SELECT decided_at FROM {0}.step_choice UNION ALL "
            "SELECT taken_at FROM {0}.format_build UNION ALL SELECT taken_at FROM {0}.device_constant UNION ALL "
            "SELECT fitted_at FROM {0}.model) WHERE at > {1}",
            schema, latest),
        "looking at time stamps");
    if (!s.step() || s.integer(0) == 0) return {};
    return {
        fmt::format("{} rows are stamped later than now, the last {}: a clock is wrong; where files are merged they "
                    "count as older than all others",
                    s.integer(0), s.view(1))};
}

}  // namespace gnntune::store
