// gnntune db prune: a smaller database that answers the same.
#include <fmt/format.h>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/db/db.hpp"

namespace gnntune::tools {

int run_db_prune(const Args& args) {
    constexpr const char* kUsage = "gnntune db prune [options]";
    Options options("db prune",
                    {kUsage,
                     "Removes measurements that nothing asks for any more: of configs that were measured again, "
                     "and of older versions of variants. Choices, and what they rest on, stay.",
                     {"gnntune db prune --dry-run", "gnntune db prune --db mine.db"}});
    options.group("Pruning").add_options()("dry-run", boost::program_options::bool_switch(),
                                           "count what would go, and change nothing");
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 0, kUsage);
    Output out("db.prune", parsed->common);
    const std::filesystem::path path = parsed->common.database_path();
    const bool is_dry = parsed->flag("dry-run");
    if (!is_dry) open_store(path, store::Mode::untouched, out);  // a database that is missing is not made
    store::Store store = open_store(path, is_dry ? store::Mode::untouched : store::Mode::read_write_create, out);
    const store::PruneReport report = store.prune(is_dry);
    Table table({{"superseded", "superseded", ""},
                 {"outdated", "outdated", ""},
                 {"bytes_before", "before", "bytes"},
                 {"bytes_after", "after", "bytes"}});
    // How much smaller the file would become, a count does not tell.
    const Cell after = is_dry ? Cell() : Cell(report.bytes_after);
    table.add({report.superseded, report.outdated, report.bytes_before, after});
    out.print(table);
    if (!report.not_smaller.empty()) {
        throw database_error(
            fmt::format("{} measurements are removed, but the file could not be made smaller ({}); run `gnntune db "
                        "prune` again when "
                        "no other program uses it and the disk has room for a second copy",
                        report.superseded + report.outdated, report.not_smaller));
    }
    return kExitOk;
}

}  // namespace gnntune::tools
