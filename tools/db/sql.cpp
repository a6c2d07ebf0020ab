// gnntune db sql: a query of the user's own.
#include <fmt/format.h>

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
    if (row.is_real(column)) return row.real(column);
    if (row.is_blob(column)) return fmt::format("<{} bytes>", row.view(column).size());
    return row.text(column);
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
    std::vector<Column> columns;
    for (int c = 0; c < row.columns(); ++c) {
        const std::string name(row.column_name(c));
        columns.push_back({name, name, ""});
    }
    Table table(std::move(columns));
    while (row.step()) {
        std::vector<Cell> cells;
        for (int c = 0; c < row.columns(); ++c) cells.push_back(cell_of(row, c));
        table.add(std::move(cells));
    }
    out.print(table);
    return kExitOk;
}

}  // namespace gnntune::tools
