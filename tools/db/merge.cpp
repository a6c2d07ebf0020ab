// gnntune db merge: other databases taken into this one.
#include <fmt/format.h>

#include <optional>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/db/db.hpp"
#include "tools/db/merge_into.hpp"
#include "tools/shard/work_folder.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kMergeUsage = "gnntune db merge [options] FROM.db... --db INTO.db";

Options merge_options() {
    Options options(
        "db merge",
        {kMergeUsage,
         "Takes what other databases hold into the one of --db (default: the user's): every measurement with its run, "
         "parts and "
         "counters, and the newer of formats, constants and models. Then makes the choices again that have "
         "new measurements beside them. Says what the databases disagree about. The same file taken in twice "
         "adds nothing. One with rows that this build cannot read, or that `db check` has something against, is "
         "refused whole, with exit code 6.",
         {"gnntune db merge piece1.db piece2.db --db all.db", "gnntune db merge colleague.db --json",
          "gnntune db merge --from work/ --db all.db"}});
    options.group("Sources").add_options()("from", value("DIR"),
                                           "what the ranks of `gnntune tune --shard --work DIR` have measured");
    return options;
}

void tell_counts(const shard::Counts& counts, const std::string& folder, Output& out) {
    if (!counts.worked_through()) {
        out.warn(fmt::format("{}: {} of {} units are not done; the command that began it goes on with them", folder,
                             counts.open + counts.begun, counts.all()));
    }
    if (counts.left > 0) {
        out.warn(
            fmt::format("{}: {} of {} units were worked through with something left out; the command that began it "
                        "tries that again",
                        folder, counts.left, counts.all()));
    }
}

}  // namespace

int run_db_merge(const Args& args) {
    const auto parsed = merge_options().parse(args);
    if (!parsed) return kExitOk;
    const auto folder = parsed->find("from");
    require_arguments(*parsed, folder ? 0 : 1, SIZE_MAX, kMergeUsage);
    Output out("db.merge", parsed->common);
    std::vector<MergeSource> sources;
    for (const std::string& from : parsed->arguments) sources.push_back({from, from});
    std::optional<shard::FinishedWork> work;
    if (folder) {
        work.emplace(*folder, interrupted);
        if (interrupted()) return kExitInterrupted;
        for (const auto& database : work->databases()) sources.push_back({database, database.string()});
    }
    for (const MergeSource& source : sources) require_mergeable(source.database);
    store::Store store = open_store(parsed->common.database_path(), store::Mode::read_write_create, out);
    if (work) tell_counts(work->counts(), *folder, out);
    merge_into(store, sources, work ? work->constraints() : Constraints(), parsed->common, out);
    return kExitOk;
}

}  // namespace gnntune::tools
