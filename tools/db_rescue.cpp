// gnntune db rescue: what can be read of a damaged database.
#include "profiles/store_rescue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/db.hpp"
#include "tools/exit_code.hpp"

namespace gnntune::tools {

int run_db_rescue(const Args& args) {
    constexpr const char* kUsage = "gnntune db rescue [options] DAMAGED NEW";
    Options options("db rescue",
                    {kUsage,
                     "Copies what can be read of a damaged database to a new file, around the pages that "
                     "cannot, and leaves out rows that rest on lost ones. The damaged file stays as it is.",
                     {"gnntune db rescue user.db.damaged-20261122T093000Z rescued.db",
                      "gnntune db check --db rescued.db && gnntune db merge rescued.db"}});
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 2, 2, kUsage);
    Output out("db.rescue", parsed->common);
    const auto tables = store::rescue(parsed->arguments[0], parsed->arguments[1]);
    Table table({{"table", "table", ""}, {"rows", "rows", ""}, {"left_out", "left out", ""}, {"state", "state", ""}});
    for (const store::RescuedTable& t : tables) {
        table.add({t.name, t.rows, t.orphans, std::string(t.whole ? "whole" : "damaged")});
    }
    out.print(table);
    const auto lost =
        std::count_if(tables.begin(), tables.end(), [](const auto& t) { return !t.whole || t.orphans > 0; });
    if (lost > 0) {
        out.warn(fmt::format("{} of {} tables lost rows; take the rest into your database with: gnntune db merge {}",
                             lost, tables.size(), parsed->arguments[1]));
    }
    const auto problems = store::Store::open(parsed->arguments[1], store::Mode::read_only).check({});
    for (const std::string& problem : problems) out.warn(problem);
    if (!problems.empty()) {
        out.warn(fmt::format("{} rescued rows are doubtful, as above: look at them before you merge", problems.size()));
        return kExitDatabase;
    }
    return kExitOk;
}

}  // namespace gnntune::tools
