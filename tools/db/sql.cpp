// gnntune db sql: a query of the user's own.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "profiles/database/database.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/db/db.hpp"

namespace gnntune::tools {
namespace {

Cell cell_of(const store::Statement& row, int column) {
    if (row.is_null(column)) return {};
    if (row.is_integer(column)) return row.integer(column);
    if (row.is_real(column)) {
        const double value = row.real(column);
        if (std::isfinite(value)) return value;
        return std::string(value < 0 ? "-inf" : "inf");  // JSON has no such number, and nothing is what NULL is
    }
    if (row.is_blob(column)) return fmt::format("<{} bytes>", row.view(column).size());
    return row.text(column);
}

/// As the query names them; of several with one name those behind the first have a number that no other has.
std::vector<Column> columns_of(const store::Statement& row) {
    std::set<std::string> names;
    for (int c = 0; c < row.columns(); ++c) names.emplace(row.column_name(c));
    std::set<std::string> used;
    std::vector<Column> columns;
    for (int c = 0; c < row.columns(); ++c) {
        const std::string asked(row.column_name(c));
        std::string name = asked;
        for (int i = 2; used.contains(name) || (i > 2 && names.contains(name)); ++i) {
            name = fmt::format("{}_{}", asked, i);
        }
        used.insert(name);
        columns.push_back({name, name, ""});
    }
    return columns;
}

}  // namespace

int run_db_sql(const Args& args) {
    constexpr const char* kUsage = "gnntune db sql [options] QUERY";
    const Options options("db sql",
                          {kUsage,
                           "Runs one SQL query on the database, which stays as it is. Views for people: best, "
                           "usable, counters; docs/database.md has the tables.",
                           {"gnntune db sql 'select graph, config, time_us from best where k = 64'",
                            "gnntune db sql 'select status, count(*) from measurement group by status' --csv"}});
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, 1, kUsage);
    Output out("db.sql", parsed->common);
    const store::Store store = open_for_reading(parsed->common, out);
    store::Statement row = store.database().prepare_query(parsed->arguments.front(), "running the query");
    Table table(columns_of(row));
    while (row.step()) {
        std::vector<Cell> cells;
        for (int c = 0; c < row.columns(); ++c) cells.push_back(cell_of(row, c));
        table.add(std::move(cells));
    }
    out.print(table);
    return kExitOk;
}

}  // namespace gnntune::tools
