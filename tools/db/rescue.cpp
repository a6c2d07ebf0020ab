// gnntune db rescue: what can be read of a damaged database.
#include "profiles/store/rescue.hpp"
#include "core/common/shell_quoted.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "profiles/store/store.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/output.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"
#include "tools/db/db.hpp"

namespace gnntune::tools {
namespace {

/// The database that a damaged one was before it was set aside (FILE.damaged-TIME); nothing if its name is another.
std::optional<std::string> original_of(const std::string& damaged) {
    const auto at = damaged.rfind(".damaged-");
    if (at == std::string::npos || damaged.find('/', at) != std::string::npos) return std::nullopt;
    return damaged.substr(0, at);
}

bool lost_rows(const store::RescuedTable& t) {
    return !t.whole || t.orphans > 0;
}

std::string state_of(const store::RescuedTable& t) {
    return !t.whole ? "damaged" : t.orphans > 0 ? "rows left out" : "whole";
}

std::string loss_of(const store::RescuedTable& t) {
    std::string words = t.whole ? "" : "damaged, rows that cannot be read are lost and not counted";
    if (t.orphans > 0) words += fmt::format("{}{} left out", words.empty() ? "" : "; ", t.orphans);
    return fmt::format("{} ({})", t.name, words);
}

}  // namespace

int run_db_rescue(const Args& args) {
    constexpr const char* kUsage = "gnntune db rescue [options] DAMAGED NEW";
    Options options("db rescue", {kUsage,
                                  "Copies what can be read of a damaged database to a new file, around the pages that "
                                  "cannot, and leaves out rows that rest on lost ones or that this build cannot read. "
                                  "The damaged file stays as it is.",
                                  {"gnntune db rescue user.db.damaged-20261122T093000Z rescued.db",
                                   "gnntune db check --db rescued.db && gnntune db merge rescued.db --db user.db"}});
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 2, 2, kUsage);
    Output out("db.rescue", parsed->common);
    const auto tables = store::rescue(parsed->arguments[0], parsed->arguments[1]);
    Table table({{"table", "table", ""}, {"rows", "rows", ""}, {"left_out", "left out", ""}, {"state", "state", ""}});
    for (const store::RescuedTable& t : tables) {
        table.add({t.name, t.rows, t.orphans, state_of(t)});
    }
    out.print(table);
    std::vector<std::string> losses;
    for (const store::RescuedTable& t : tables) {
        if (lost_rows(t)) losses.push_back(loss_of(t));
    }
    if (!losses.empty()) {
        const auto original = original_of(parsed->arguments[0]);
        out.warn(
            fmt::format("{} of {} tables lost rows: {}; take the rest into your database with: gnntune db merge {} "
                        "--db {}",
                        losses.size(), tables.size(), joined(losses), shell_quoted(parsed->arguments[1]),
                        original ? shell_quoted(*original) : "YOUR.db"));
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
