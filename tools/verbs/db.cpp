// gnntune db: its parts live in tools/db/.
#include <fmt/format.h>

#include <array>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/streams.hpp"
#include "tools/common/suggest.hpp"
#include "tools/db/db.hpp"

namespace gnntune::tools {
namespace {

constexpr std::array kParts{
    Verb{"ls", "the best config of every problem; or graphs, problems, runs, choices, environments, models, steps",
         run_db_ls},
    Verb{"show", "everything measured on one graph", run_db_show},
    Verb{"sql", "a query of your own, which changes nothing", run_db_sql},
    Verb{"check", "look for damage and for rows that this build cannot use", run_db_check},
    Verb{"diff", "judge what two databases have both measured: SAME, FAST, SLOW or AMBIGUOUS", run_db_diff},
    Verb{"merge", "take other databases into this one", run_db_merge},
    Verb{"prune", "remove measurements that nothing asks for any more", run_db_prune},
    Verb{"rescue", "copy what can be read of a damaged database", run_db_rescue},
    Verb{"export", "the whole database as JSON; measurements or the best table as CSV", run_db_export},
    Verb{"import", "a database of a JSON document, or the document taken into one", run_db_import},
    Verb{"errata", "configs that must not run: list them, add one, remove one", run_db_errata},
    Verb{"verify", "time a sample of the rows again and say which no longer hold", run_db_verify, true},
};

std::string parts_overview() {
    std::string text =
        "usage: gnntune db PART [options] [arguments]\n\n"
        "Looks into the database. It is a SQLite file with a view for people:\n"
        "sqlite3 FILE 'select * from best'.\n\n"
        "Examples:\n"
        "  gnntune db ls\n"
        "  gnntune db show cora --op spmm --dim 64\n"
        "  gnntune db sql 'select * from best where k = 64'\n"
        "  gnntune db diff before.db after.db --fail-on SLOW\n"
        "  gnntune db export database.json\n"
        "  gnntune db verify --sample 50\n\n"
        "Parts:\n";
    for (const Verb& part : kParts) text += fmt::format("  {:<10}{}\n", part.name, part.summary);
    return text + "\n`gnntune help db PART` says more.\n";
}

}  // namespace

int run_db(const Args& args) {
    if (args.empty()) {
        write_stderr(parts_overview());
        return kExitUsage;
    }
    const std::string& name = args.front();
    if (name == "--help" || name == "-h") {
        write_stdout(parts_overview());
        return kExitOk;
    }
    std::vector<std::string> names;
    for (const Verb& part : kParts) {
        if (name == part.name) {
            if (part.stops_in_order) install_interrupt_handlers();
            return part.run(Args(args.begin() + 1, args.end()));
        }
        names.emplace_back(part.name);
    }
    throw invalid_argument(fmt::format("expected one of {} behind `gnntune db`, not '{}'{}", joined(names), name,
                                       did_you_mean(name, names)));
}

}  // namespace gnntune::tools
