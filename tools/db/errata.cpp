// gnntune db errata: configs that must not run.
#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "core/common/numbers.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/db/db.hpp"
#include "tools/db/unknown_names.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kErrataUsage = "gnntune db errata [options] [add CONDITION | remove ID]";

Options errata_options() {
    Options options("db errata",
                    {kErrataUsage,
                     "Lists the configs that must not run: those of the database and those that came with this "
                     "installation. `add` has the tuner and the dispatcher leave out what fits CONDITION, `remove` "
                     "ends that. docs/database.md has the conditions.",
                     {"gnntune db errata",
                      "gnntune db errata add 'variant=spmm.edges version<=2 k>=65' --reason 'wrong beside 2^31 edges'",
                      "gnntune db errata remove 1"}});
    options.group("Errata").add_options()("reason", value("TEXT"), "why, for people; demanded by add");
    return options;
}

store::Store open_for_writing(const CommonOptions& common, Output& out) {
    return open_store(common.database_path(), store::Mode::read_write_create, out);
}

void list(const CommonOptions& common, Output& out) {
    Table table({{"id", "id", ""},
                 {"condition", "condition", ""},
                 {"reason", "reason", ""},
                 {"added_at", "added", ""},
                 {"where", "where", ""}});
    // The user's own first: those can be removed.
    for (const store::Store& store : store::open_layers(common.database_path(), store::WhenMissing::nothing)) {
        for (const store::ErratumRow& row : store.errata()) {
            if (!row.erratum)
                out.warn(fmt::format("erratum {}: {}; it keeps nothing from running", row.id, row.complaint));
            table.add({row.id, row.condition, row.reason, row.added_at, store::shown(store.path())});
        }
    }
    const auto warn = [&out](const std::string& sentence) { out.warn(sentence); };
    if (const auto shipped = store::errata_of({}, warn)) {
        for (const Erratum& erratum : shipped->all()) {
            table.add({Cell(), condition_text(erratum), erratum.reason, Cell(),
                       store::shipped_errata().string() + " (shipped)"});
        }
    }
    out.print(table);
}

std::int64_t id_of(const std::string& text) {
    const auto id = parse_number<std::int64_t>(text);
    if (!id || *id < 1) {
        throw invalid_argument("db errata remove: expected the id of an erratum, not '" + text + "'");
    }
    return *id;
}

}  // namespace

int run_db_errata(const Args& args) {
    const auto parsed = errata_options().parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 2, kErrataUsage);
    Output out("db.errata", parsed->common);
    const auto& words = parsed->arguments;
    const bool adds = !words.empty() && words[0] == "add";
    if (parsed->given("reason") && !adds) throw invalid_argument("--reason: only `db errata add` has a reason");
    if (words.empty()) {
        list(parsed->common, out);
        return kExitOk;
    }
    if (words.size() != 2 || (!adds && words[0] != "remove")) {
        throw invalid_argument(fmt::format("expected `add CONDITION` or `remove ID`; usage: {}", kErrataUsage));
    }
    if (adds) {
        const Erratum erratum = parse_erratum(words[1], parsed->text("reason"));
        const std::int64_t id = open_for_writing(parsed->common, out).add_erratum(erratum);
        out.note(fmt::format("erratum {} added: {}", id, condition_text(erratum)));
        // Another build may have it: it is stored all the same.
        if (const auto complaint = unknown_name(erratum)) {
            out.warn(fmt::format("erratum {}: it keeps nothing from running here{}: {}", id,
                                 may_be_of_cuda(erratum) ? ", in a build without CUDA variants" : " (gnntune list)",
                                 *complaint));
        }
        return kExitOk;
    }
    const std::int64_t id = id_of(words[1]);
    // One that is missing is not made, and one that has no such erratum is left as it is, of whatever schema.
    const auto known = open_for_reading(parsed->common, out).errata();
    const auto row = std::find_if(known.begin(), known.end(), [&](const auto& r) { return r.id == id; });
    if (row == known.end() || !open_for_writing(parsed->common, out).remove_erratum(id)) {
        throw invalid_argument(fmt::format("{}: there is no erratum {}; `gnntune db errata` lists them",
                                           parsed->common.database_path().string(), id));
    }
    out.note(fmt::format("erratum {} removed: {}", id, row->condition));
    return kExitOk;
}

}  // namespace gnntune::tools
