// gnntune db export: the whole database as JSON, or evidence as CSV.
#include <fmt/format.h>

#include <optional>
#include <sstream>

#include "core/common/error.hpp"
#include "core/io/file.hpp"
#include "profiles/document/csv.hpp"
#include "profiles/document/document.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output.hpp"
#include "tools/common/output_file.hpp"
#include "tools/db/db.hpp"
#include "tools/db/stored_queries.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kExportUsage = "gnntune db export [options] [FILE|-]";

void write_csv(const store::Store& store, const Parsed& parsed, const store::ByteSink& sink, Output& out) {
    std::ostringstream text;
    if (parsed.flag("best")) {
        const StoredQueries queries(store, out);
        store::write_best_csv(
            store, [&](const store::BestRow& row) { return queries.held_back(row); }, text);
    } else {
        store::write_measurements_csv(store, parsed.integer("run", 1, INT64_MAX), text);
    }
    sink(text.str());
}

}  // namespace

int run_db_export(const Args& args) {
    Options options("db export",
                    {kExportUsage,
                     "Writes the whole database as JSON, one record a line, in an order that makes versions easy to "
                     "compare; gnntune db import reads it. With --csv measurements, failed ones with their reason, or "
                     "the table of the best. Without FILE, or with `-`, to stdout.",
                     {"gnntune db export database.json", "gnntune db export --csv measurements.csv",
                      "gnntune db export --csv --best", "gnntune db export --csv --run 3 run3.csv"}});
    // clang-format off
    options.group("Choice").add_options()
        ("best", boost::program_options::bool_switch(), "with --csv: the fastest exact config of every problem")
        ("run", value("N"), "with --csv: measurements of this run only (gnntune db ls runs)");
    // clang-format on
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 1, kExportUsage);
    const bool csv = parsed->common.format == OutputFormat::csv;
    if (!csv && (parsed->flag("best") || parsed->given("run"))) {
        throw invalid_argument("--best and --run choose rows of the CSV: give --csv too");
    }
    if (parsed->integer("run", 1, INT64_MAX) && parsed->flag("best")) {
        throw invalid_argument("--best and --run exclude each other");
    }
    const std::string path = parsed->arguments.empty() ? "-" : parsed->arguments.front();
    require_no_database(path, parsed->common);

    Output out("db.export", parsed->common);
    const store::Store store = open_for_reading(parsed->common, out);
    const auto write = [&](const store::ByteSink& sink) {
        csv ? write_csv(store, *parsed, sink, out) : store::write_document(store, sink);
    };
    if (path == "-") {
        write([&out](std::string_view bytes) { out.print_raw(bytes); });
        return kExitOk;
    }
    io::FileWriter file(path);
    write([&file](std::string_view bytes) { file.write(bytes); });
    file.commit();
    out.note(fmt::format("{}: written", path));
    return kExitOk;
}

}  // namespace gnntune::tools
