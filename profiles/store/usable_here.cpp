#include "profiles/store/usable_here.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gnntune::store {
namespace {

constexpr std::string_view kVersionsThatCount = "finding the versions that count";

constexpr const char* kUsableHere = R"sql(
DROP VIEW IF EXISTS temp.usable_here;
CREATE TEMP VIEW usable_here AS
SELECT measurement.*
FROM main.measurement
JOIN (SELECT max(id) AS id FROM main.measurement
      GROUP BY graph_id, environment_id, problem_id, policy, clock, config, variant_version) USING (id)
WHERE status = 'ok'
  AND variant_version = (SELECT version FROM temp.counting WHERE counting.id = measurement.variant)
  AND NOT EXISTS (SELECT 1 FROM main.part
                  WHERE part.measurement_id = measurement.id
                    AND part.variant_version <> (SELECT version FROM temp.counting WHERE counting.id = part.variant));
)sql";

}  // namespace

void count_versions(const Database& database, const VersionHere& version_here) {
    database.execute(
        "DROP TABLE IF EXISTS temp.counting; CREATE TEMP TABLE counting (id TEXT PRIMARY KEY, version INTEGER)",
        kVersionsThatCount);
    std::vector<std::pair<std::string, std::int32_t>> versions;
    Statement measured = database.prepare(
        "SELECT id, max(version) FROM (SELECT variant AS id, variant_version AS version FROM main.measurement UNION "
        "ALL "
        "SELECT variant, variant_version FROM main.part) GROUP BY id",
        kVersionsThatCount);
    while (measured.step()) {
        const auto here = version_here ? version_here(measured.view(0)) : std::nullopt;
        versions.emplace_back(measured.text(0), here.value_or(measured.integer32(1)));
    }
    Statement add = database.prepare("INSERT INTO temp.counting VALUES (?, ?)", kVersionsThatCount);
    for (const auto& [id, version] : versions) add.bind(id, version).run();
}

void make_usable_here(const Database& database, const VersionHere& version_here) {
    count_versions(database, version_here);
    database.execute(kUsableHere, kVersionsThatCount);
}

}  // namespace gnntune::store
