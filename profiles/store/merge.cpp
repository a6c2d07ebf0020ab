// Store: everything of another database taken in. Rows are compared by value, so the same file merged twice adds
// nothing.
#include <fmt/format.h>

#include <array>
#include <tuple>

#include "core/common/error.hpp"
#include "profiles/fields/features_json.hpp"
#include "profiles/store/impl.hpp"
#include "profiles/store/merge_check.hpp"
#include "profiles/store/merge_rows.hpp"
#include "profiles/store/merge_words.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

/// `other` is the database that is taken in, as SQLite knows it, for as long as this lives.
class Attached {
public:
    /// Read-only, so that SQLite asks for no write lock there: others go on writing to it meanwhile.
    Attached(const Database& database, const std::filesystem::path& path, Access access) : database_(database) {
        database.prepare("ATTACH ? AS other", "attaching " + path.string()).bind(uri_of(path, access)).run();
    }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;
    ~Attached() {
        try {
            database_.execute("DETACH other", "detaching");
        } catch (...) {
            // The connection goes with the store.
        }
    }

private:
    const Database& database_;
};

/// Features that this build understands replace those that it does not, such as those of older programs.
void take_features(const Database& database) {
    constexpr std::string_view kDoing = "taking in features of graphs";
    Statement different = database.prepare(
        "SELECT o.id, o.features, t.features FROM main.graph AS o JOIN other.graph AS t USING (fingerprint) "
        "WHERE o.features <> t.features",
        kDoing);
    Statement replace = database.prepare("UPDATE main.graph SET features = ? WHERE id = ?", kDoing);
    const auto worth = [](const std::string& features) {  // whichever of two stands first, the same stays
        return std::tuple(features_from(features).has_value(), features != "{}", features);
    };
    std::vector<std::pair<std::int64_t, std::string>> better;
    while (different.step()) {
        if (worth(different.text(2)) > worth(different.text(1))) {
            better.emplace_back(different.integer(0), different.text(2));
        }
    }
    for (const auto& [id, features] : better) replace.bind(features, id).run();
}

void refuse_contradictions(const Database& database, const std::filesystem::path& from) {
    Statement s = database.prepare(
        "SELECT t.name, t.n_rows, t.n_cols, t.m, o.n_rows, o.n_cols, o.m FROM other.graph AS t JOIN main.graph AS o "
        "USING (fingerprint) WHERE (t.n_rows, t.n_cols, t.m) <> (o.n_rows, o.n_cols, o.m)",
        "comparing graphs");
    if (!s.step()) return;
    throw Error(
        ErrorKind::database,
        fmt::format("{}: the graph {} has {} rows, {} columns and {} edges there, and {}, {} and {} here, under "
                    "one fingerprint; one of the files is damaged (gnntune db check)",
                    from.string(), s.view(0), s.view(1), s.view(2), s.view(3), s.view(4), s.view(5), s.view(6)));
}

bool has_choice(const Database& database, const Key& key, Policy policy, Clock clock) {
    Statement s = database.prepare(
        "SELECT 1 FROM choice WHERE graph_id = ? AND environment_id = ? AND problem_id = ? AND policy = ? AND clock = "
        "?",
        "finding choices to make again");
    return s.bind(key.graph, key.environment, key.problem, to_text(policy), to_text(clock)).step();
}

}  // namespace

MergeReport Store::merge(const std::filesystem::path& from, const ConfigCheck& check) {
    const Database& database = impl_->database;
    std::error_code ignored;
    if (std::filesystem::equivalent(from, path(), ignored)) {
        throw invalid_argument(from.string() + " is the database itself; give another one to take in");
    }
    // Says in words what is no database of this schema.
    const Store theirs = open(from, Mode::read_only);
    const Attached attached(database, from, theirs.database().access());
    Transaction transaction(database);
    refuse_faults(database, theirs, check);
    refuse_contradictions(database, from);
    note_time(database);
    MergeReport report;
    report.conflicts = refuse_damaged_models(database);
    for (std::string& words : conflicts_with(database)) report.conflicts.push_back(std::move(words));
    constexpr std::array<const char*, 4> kTables{"graph", "environment", "run", "measurement"};
    const std::array<std::int64_t*, 4> added{&report.graphs, &report.environments, &report.runs, &report.measurements};
    const auto count = [&](const char* table) {
        return database.integer(fmt::format("SELECT count(*) FROM main.{}", table), "counting rows");
    };
    const auto same_models = [&] {
        return database.integer(
            "SELECT count(*) FROM other.model AS t JOIN main.model AS o USING (op, backend, policy, clock)"
            " WHERE o.bytes = t.bytes AND o.fitted_at = t.fitted_at",
            "counting models");
    };
    for (std::size_t i = 0; i < kTables.size(); ++i) *added[i] = -count(kTables[i]);
    report.models = -same_models();
    take_owners(database);
    match_measurements(database);
    report.choice_conflicts = choice_conflicts(database);
    for (std::string& words : far_times(database)) report.conflicts.push_back(std::move(words));
    report.notes = errata_words(database);
    for (std::string& words : late_stamps(database, "other", "(SELECT latest FROM temp.merge_now)")) {
        report.notes.push_back(std::move(words));
    }
    take_measurements(database);
    take_features(database);
    take_later(database);
    report.errata = take_errata(database);
    for (std::size_t i = 0; i < kTables.size(); ++i) *added[i] += count(kTables[i]);
    report.models += same_models();
    report.known = database.integer("SELECT count(*) FROM other.measurement", "counting rows") - report.measurements;
    Statement s = database.prepare(
        fmt::format("SELECT DISTINCT n.graph_id, n.environment_id, n.problem_id, t.policy, t.clock "
                    "FROM temp.merge_measurement AS n JOIN other.measurement AS t ON t.id = n.theirs "
                    "WHERE n.is_new AND NOT (t.status = 'failed' AND t.reason GLOB '{}*') ORDER BY 1, 2, 3, 4, 5",
                    kDisturbed),
        "finding choices to make again");
    while (s.step()) {
        const Key key{s.integer(0), s.integer(1), s.integer(2)};
        const auto policy = parse_policy(s.view(3));
        const auto clock = parse_clock(s.view(4));
        if (policy && clock && has_choice(database, key, *policy, *clock)) {
            report.open_choices.push_back({key, *policy, *clock});
        }
    }
    transaction.commit();
    return report;
}

}  // namespace gnntune::store
