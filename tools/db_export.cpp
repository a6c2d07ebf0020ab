// gnntune db export: evidence as CSV.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/common/error.hpp"
#include "profiles/csv.hpp"
#include "tools/db.hpp"
#include "tools/exit_code.hpp"

namespace gnntune::tools {
namespace {

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) throw input_error(fmt::format("{}: the file cannot be written", path));
}

}  // namespace

int run_db_export(const Args& args) {
    constexpr const char* kUsage = "gnntune db export [options] --csv FILE|-";
    Options options("db export",
                    {kUsage,
                     "Writes measurements, failed ones with their reason, as CSV: all of them, those of a run, or "
                     "the table of the best. `-` is stdout.",
                     {"gnntune db export --csv measurements.csv", "gnntune db export --best --csv -",
                      "gnntune db export --run 3 --csv run3.csv"}});
    // clang-format off
    options.group("Choice").add_options()
        ("best", boost::program_options::bool_switch(), "the fastest exact config of every problem")
        ("run", value("N"), "measurements of this run only (gnntune db ls runs)");
    // clang-format on
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, 1, kUsage);
    if (parsed->common.format == OutputFormat::json) {
        throw invalid_argument("gnntune db export writes CSV; for JSON use gnntune db show GRAPH --json");
    }
    const auto run = parsed->integer("run", 1, INT64_MAX);
    if (run && parsed->flag("best")) throw invalid_argument("--best and --run exclude each other");

    Output out("db.export", parsed->common);
    const store::Store store = open_for_reading(parsed->common, out);
    std::ostringstream text;
    if (parsed->flag("best")) {
        store::write_best_csv(store, text);
    } else {
        store::write_measurements_csv(store, run, text);
    }
    const std::string& path = parsed->arguments.front();
    if (path == "-") {
        out.print_raw(text.str());
    } else {
        std::error_code ignored;
        if (std::filesystem::equivalent(path, parsed->common.database_path(), ignored)) {
            throw invalid_argument(path + " is the database itself; give another file, or - for stdout");
        }
        write_file(path, text.str());
        out.note(fmt::format("{}: written", path));
    }
    return kExitOk;
}

}  // namespace gnntune::tools
