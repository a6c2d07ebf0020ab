// Store: rows that nothing asks for any more.
#include <fmt/format.h>

#include "core/common/error.hpp"
#include "profiles/store.hpp"

namespace gnntune::store {
namespace {

// A newer attempt of the same config stands in the place of this one; an attempt that failed never does in that of one
// that went well.
constexpr std::string_view kSuperseded = R"sql(
id IN (SELECT old.id FROM measurement AS old JOIN measurement AS new
       USING (graph_id, environment_id, problem_id, policy, clock, config, variant_version)
       WHERE new.id > old.id AND (new.status = 'ok' OR old.status <> 'ok')))sql";

// Of a version of its variant that a newer one has replaced, and chosen nowhere.
constexpr std::string_view kOutdated = R"sql(
variant_version < (SELECT max(version) FROM variant WHERE variant.id = measurement.variant)
AND NOT EXISTS (SELECT 1 FROM choice WHERE choice.graph_id = measurement.graph_id
                AND choice.environment_id = measurement.environment_id AND choice.problem_id = measurement.problem_id
                AND choice.config = measurement.config AND choice.variant_version = measurement.variant_version))sql";

std::int64_t remove_measurements(const Database& database, std::string_view which, std::string_view doing) {
    database.prepare(fmt::format("DELETE FROM measurement WHERE {}", which), doing).run();
    return database.integer("SELECT changes()", doing);
}

std::int64_t file_bytes(const Database& database) {
    constexpr std::string_view kDoing = "asking for the size of the file";
    return database.integer("PRAGMA page_count", kDoing) * database.integer("PRAGMA page_size", kDoing);
}

}  // namespace

PruneReport Store::prune(bool dry_run) {
    const Database& file = database();
    PruneReport report;
    report.bytes_before = report.bytes_after = file_bytes(file);
    Transaction changes = transaction();
    report.superseded = remove_measurements(file, kSuperseded, "removing superseded measurements");
    report.outdated = remove_measurements(file, kOutdated, "removing measurements of replaced variants");
    if (dry_run) return report;  // and roll back
    changes.commit();
    try {
        file.execute("VACUUM", "making the file smaller");
    } catch (const Error& error) {  // the rows are gone all the same
        report.not_smaller = error.what();
    }
    report.bytes_after = file_bytes(file);
    return report;
}

}  // namespace gnntune::store
