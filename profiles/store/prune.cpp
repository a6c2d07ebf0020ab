// Store: rows that nothing asks for any more.
#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/store/impl.hpp"
#include "profiles/store/usable_here.hpp"

namespace gnntune::store {
namespace {

// A newer attempt of the same config stands in the place of this one; an attempt that failed never does in that of one
// that went well. One pass over the rows in the order of their index, however often each was repeated.
constexpr std::string_view kSuperseded = R"sql(
SELECT id, place FROM (
    SELECT id, iif(status = 'ok', max(id) FILTER (WHERE status = 'ok') OVER attempt, max(id) OVER attempt) AS place
    FROM measurement
    WINDOW attempt AS (PARTITION BY graph_id, environment_id, problem_id, policy, clock, config, variant_version))
WHERE id < place)sql";

// The same of a pair of rows, whatever happened to them since they were listed: a merge may have numbered them anew.
constexpr std::string_view kStillSuperseded = R"sql(
old.id < kept.id AND (kept.status = 'ok' OR old.status <> 'ok')
AND (kept.graph_id, kept.environment_id, kept.problem_id, kept.policy, kept.clock, kept.config, kept.variant_version)
  = (old.graph_id, old.environment_id, old.problem_id, old.policy, old.clock, old.config, old.variant_version))sql";

// Of a version of its variant that is older than the one that counts (usable_here.hpp), and chosen nowhere.
constexpr std::string_view kOutdated = R"sql(
variant_version < (SELECT version FROM temp.counting WHERE counting.id = measurement.variant)
AND NOT EXISTS (SELECT 1 FROM choice WHERE choice.graph_id = measurement.graph_id
                AND choice.environment_id = measurement.environment_id AND choice.problem_id = measurement.problem_id
                AND choice.config = measurement.config AND choice.variant_version = measurement.variant_version))sql";

/// Rows of one commit, so that nobody waits long for the write lock.
constexpr std::int64_t kRowsAtOnce = 5000;

std::int64_t file_bytes(const Database& database) {
    constexpr std::string_view kSize = "asking for the size of the file";
    return database.integer("PRAGMA page_count", kSize) * database.integer("PRAGMA page_size", kSize);
}

/// What may go, in temporary tables: others write to the file meanwhile.
class PruneLists {
public:
    explicit PruneLists(const Database& database) : database_(database) {
        constexpr std::string_view kListing = "listing measurements to remove";
        database.execute(fmt::format("DROP TABLE IF EXISTS temp.superseded; DROP TABLE IF EXISTS temp.outdated;"
                                     "CREATE TEMP TABLE superseded (n INTEGER PRIMARY KEY, id INTEGER, place INTEGER);"
                                     "CREATE TEMP TABLE outdated (n INTEGER PRIMARY KEY, id INTEGER);"
                                     "INSERT INTO temp.superseded (id, place) {};"
                                     "INSERT INTO temp.outdated (id) SELECT id FROM measurement WHERE {}"
                                     " AND id NOT IN (SELECT id FROM temp.superseded)",
                                     kSuperseded, kOutdated),
                         kListing);
    }
    PruneLists(const PruneLists&) = delete;
    PruneLists& operator=(const PruneLists&) = delete;
    ~PruneLists() {
        try {
            database_.execute("DROP TABLE temp.superseded; DROP TABLE temp.outdated", "clearing up");
        } catch (...) {
            // They go with the connection.
        }
    }

    std::int64_t count(std::string_view list) const {
        return database_.integer(fmt::format("SELECT count(*) FROM temp.{}", list), "counting measurements to remove");
    }
    std::int64_t remove_superseded() const {
        return remove("superseded", fmt::format("SELECT old.id FROM temp.superseded AS listed "
                                                "CROSS JOIN measurement AS old ON old.id = listed.id "
                                                "CROSS JOIN measurement AS kept ON kept.id = listed.place "
                                                "WHERE listed.n BETWEEN ? AND ? AND {}",
                                                kStillSuperseded));
    }
    std::int64_t remove_outdated() const {
        return remove("outdated", fmt::format("SELECT measurement.id FROM temp.outdated AS listed "
                                              "CROSS JOIN measurement ON measurement.id = listed.id "
                                              "WHERE listed.n BETWEEN ? AND ? AND {}",
                                              kOutdated));
    }

private:
    std::int64_t remove(std::string_view list, const std::string& which) const {
        const std::int64_t listed = count(list);
        Statement removal = database_.prepare(fmt::format("DELETE FROM measurement WHERE id IN ({})", which),
                                              fmt::format("removing {} measurements", list));
        std::int64_t removed = 0;
        for (std::int64_t n = 1; n <= listed; n += kRowsAtOnce) {
            Transaction transaction(database_);
            removal.bind(n, n + kRowsAtOnce - 1).run();
            removed += database_.integer("SELECT changes()", "counting removed measurements");
            transaction.commit();
        }
        return removed;
    }

    const Database& database_;
};

}  // namespace

PruneReport Store::prune(bool dry_run) {
    const Database& file = database();
    PruneReport report;
    report.bytes_before = report.bytes_after = file_bytes(file);
    count_versions(file, impl_->version_here);
    const PruneLists lists(file);
    if (dry_run) {
        report.superseded = lists.count("superseded");
        report.outdated = lists.count("outdated");
        return report;
    }
    report.superseded = lists.remove_superseded();
    report.outdated = lists.remove_outdated();
    const bool is_full = file.integer("PRAGMA freelist_count", "asking for free pages") == 0;
    if (report.superseded + report.outdated == 0 && is_full) return report;
    try {
        file.execute("VACUUM", "making the file smaller");
    } catch (const Error& error) {  // the rows are gone all the same
        report.not_smaller = error.what();
    }
    report.bytes_after = file_bytes(file);
    return report;
}

}  // namespace gnntune::store
