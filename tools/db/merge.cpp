// gnntune db merge: other databases taken into this one.
#include <fmt/format.h>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/db/db.hpp"
#include "tools/db/merge_into.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kMergeUsage = "gnntune db merge [options] FROM.db... --db INTO.db";

Options merge_options() {
    return Options(
        "db merge",
        {kMergeUsage,
         "Takes what other databases hold into the one of --db (default: the user's): every measurement with its run, "
         "parts and "
         "counters, and the newer of formats, constants and models. Then makes the choices again that have "
         "new measurements beside them. Says what the databases disagree about. The same file taken in twice "
         "adds nothing. One with rows that this build cannot read, or that `db check` has something against, is "
         "refused whole, with exit code 6.",
         {"gnntune db merge piece1.db piece2.db --db all.db", "gnntune db merge colleague.db --json"}});
}

}  // namespace

int run_db_merge(const Args& args) {
    const auto parsed = merge_options().parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, SIZE_MAX, kMergeUsage);
    Output out("db.merge", parsed->common);
    for (const std::string& from : parsed->arguments) {
        if (const auto damage = store::Database::damage_of(from)) {
            throw database_error(
                fmt::format("{}: the file is damaged ({}); save what can be read with `gnntune db rescue "
                            "{} FILE` and take in FILE",
                            from, *damage, from));
        }
        store::Store::open(from, store::Mode::read_only).require_mergeable(merge_check);
    }
    store::Store store = open_store(parsed->common.database_path(), store::Mode::read_write_create, out);
    std::vector<MergeSource> sources;
    for (const std::string& from : parsed->arguments) sources.push_back({from, from});
    merge_into(store, sources, parsed->common, out);
    return kExitOk;
}

}  // namespace gnntune::tools
