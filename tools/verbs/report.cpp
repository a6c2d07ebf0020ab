// gnntune report: what a tuning found, as one HTML file. Its parts live in tools/report.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/common/error.hpp"
#include "core/common/utc.hpp"
#include "core/io/file.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/lines.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/output_file.hpp"
#include "tools/common/parse.hpp"
#include "tools/common/program.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/suggest.hpp"
#include "tools/report/collect.hpp"
#include "tools/report/json.hpp"
#include "tools/report/page.hpp"
#include "tools/report/sections.hpp"

namespace gnntune::tools {
namespace {

constexpr const char* kUsage = "gnntune report [options] [DB]";
constexpr const char* kDefaultFile = "report.html";

Options report_options() {
    Options options(
        "report",
        {kUsage,
         "Shows what a tuning found as pictures: what won on which graph and width, how far from the device's "
         "limits, what choosing gained, every config of each graph, when building pays, how good the model is, "
         "training steps, and where the numbers are from. Writes one HTML file that loads nothing and can be read "
         "without JavaScript. Measures nothing.",
         {"gnntune report user.db", "gnntune report a.db --score b.db --out a.html",
          "gnntune report user.db --graph cora,pubmed --figures figures/",
          "gnntune report user.db --json > numbers.json"}});
    // clang-format off
    options.group("What").add_options()
        ("graph", value("LIST"), "these graphs only: names, or first digits of fingerprints")
        ("score", value("FILE"), "a database of another run, by whose times choices are scored")
        ("folds", value("N"), "judge cost models, fitted without the graphs that they are asked about, in so many parts; 0: do "
         "not (default: 5 where there are no more than 20,000 timed configs, else 0)");
    options.group("Output").add_options()
        ("out", value("FILE"), "the page, - for stdout (default: report.html; none with --json and --csv)")
        ("figures", value("DIR"), "write every figure as an SVG file into this folder too");
    // clang-format on
    return options;
}

/// Ids of the graphs that --graph names.
std::vector<std::int64_t> ids_of(const store::Store& store, const std::vector<std::string>& names) {
    std::vector<std::int64_t> ids;
    for (const std::string& name : names) {
        const auto rows = store.find_graphs(name);
        if (rows.empty()) {
            std::vector<std::string> known;
            for (const store::GraphRow& row : store.graphs()) known.push_back(row.record.name);
            throw input_error(fmt::format("--graph: {} has no graph '{}'{} (gnntune db ls graphs)",
                                          store.path().string(), name, did_you_mean(name, known)));
        }
        for (const store::GraphRow& row : rows) ids.push_back(row.id);
    }
    return ids;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
    io::FileWriter file(path);
    file.write(text);
    file.commit();
}

std::size_t write_figures(const std::filesystem::path& folder, const std::vector<report::Section>& sections,
                          const CommonOptions& common) {
    std::vector<std::pair<std::filesystem::path, const report::Figure*>> files;
    for (const report::Section& section : sections) {
        for (const report::Group& group : section.groups) {
            for (const report::Figure& figure : group.figures) {
                if (!figure.svg.empty()) files.emplace_back(folder / (figure.id + ".svg"), &figure);
            }
        }
    }
    for (const auto& [path, figure] : files) require_no_database(path, common);
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) throw input_error(fmt::format("{}: the folder cannot be made: {}", folder.string(), failed.message()));
    for (const auto& [path, figure] : files) write_file(path, svg_file(*figure));
    return files.size();
}

/// A row for each problem.
Table problem_rows(const report::Report& report) {
    Table table({{"graph", "graph", ""},
                 {"fingerprint", "", "", 0, false},
                 {"problem", "problem", ""},
                 {"device", "device", ""},
                 {"policy", "policy", ""},
                 {"clock", "clock", ""},
                 {"config", "won", ""},
                 {"time_us", "time", "us"},
                 {"answer", "answer", ""},
                 {"over_untuned", "over untuned", "x"},
                 {"over_library_default", "over the library", "x"},
                 {"over_library_best", "over its best", "x"},
                 {"roofline_percent", "roofline", "%", 0}});
    const auto cell = [](const std::optional<double>& number) { return number ? Cell(*number) : Cell(); };
    for (const report::Setting& setting : report.settings) {
        for (const report::Case& c : setting.cases) {
            const report::Row* row = c.winner();
            const auto share = setting.constants.copy_gbps > 0 ? c.roofline_share() : std::nullopt;
            const GraphRecord& graph = report.graphs[c.graph].record;
            table.add({graph.name, graph.fingerprint.text(), to_text(c.problem), setting.environment.device_name,
                       std::string(to_text(setting.policy)), std::string(to_text(setting.clock)),
                       row ? Cell(row->config) : Cell(), row ? Cell(row->measured.median_us) : Cell(),
                       row ? Cell(std::string(to_text(row->answer))) : Cell(), cell(c.scores.over_untuned()),
                       cell(c.scores.over_library_default()), cell(c.scores.over_library_best()),
                       share ? Cell(100 * *share) : Cell()});
        }
    }
    return table;
}

Lines answers_of(const std::vector<report::Section>& sections) {
    Lines lines;
    for (const report::Section& section : sections) {
        lines.line(section.question);
        if (!section.answer.empty()) lines.line("  " + section.answer);
        for (const std::string& words : section.missing) lines.line("  " + words);
    }
    return lines;
}

}  // namespace

int run_report(const Args& args) {
    const Options options = report_options();
    auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 1, kUsage);
    if (!parsed->arguments.empty()) {
        if (parsed->common.db)
            throw invalid_argument("report: the database is given twice, as an argument and as --db");
        parsed->common.db = parsed->arguments.front();
    }
    Output out("report", parsed->common);
    const bool page_wanted = out.is_table() || parsed->given("out");
    const std::string file = parsed->find("out").value_or(kDefaultFile);
    if (file == "-" && !out.is_table())
        throw invalid_argument("--out - and the numbers cannot both go to stdout; name a file");
    if (page_wanted) require_no_database(file, parsed->common);
    // As the views of the file count: a report is about what was found, whatever versions this build has by now.
    std::vector<std::string> remarks;
    const auto open = [&](const std::filesystem::path& path) {
        store::OpenOptions reading;
        reading.warn = [&](const std::string& sentence) {
            remarks.push_back(sentence);
            out.warn(sentence);
        };
        return store::Store::open(path, store::Mode::read_only, reading);
    };
    const store::Store store = open(parsed->common.database_path());
    std::optional<store::Store> other;
    report::CollectOptions wanted;
    if (const auto scoring = parsed->find("score")) {
        std::error_code ignored;
        if (std::filesystem::equivalent(*scoring, store.path(), ignored)) {
            throw invalid_argument("--score: the same database; give that of another run");
        }
        other = open(*scoring);
        wanted.score = &*other;
    }
    wanted.graphs = ids_of(store, parsed->list("graph"));
    if (const auto folds = parsed->integer("folds", 0, 100000)) wanted.folds = static_cast<int>(*folds);
    wanted.tool = std::string("gnntune ") + version();
    wanted.made_at = utc_now();
    Progress progress(out, "judging models", 0);
    wanted.progress = [&](std::size_t done, std::size_t total) {
        progress.set_total(static_cast<std::int64_t>(total));
        progress.update(static_cast<std::int64_t>(done), "");
    };
    report::Report found = report::collect(store, registry(), wanted);
    for (const std::string& words : found.remarks) out.warn(words);
    found.remarks.insert(found.remarks.begin(), remarks.begin(), remarks.end());
    if (const auto names = parsed->list("graph"); !names.empty()) {
        constexpr std::size_t kNamed = 6;
        found.only = names.size() > kNamed ? fmt::format("{} of {} graphs", wanted.graphs.size(), store.graphs().size())
                                           : joined(names, ", ");
    }
    for (const std::string& words : found.damage) out.warn(words);
    const auto sections = report::sections_of(found);
    if (page_wanted) {
        const std::string page = report::page_of(found, sections);
        if (file == "-") {
            out.print_raw(page);
        } else {
            write_file(file, page);
            out.note(fmt::format("the page is {}, {}", file, bytes_text(static_cast<std::int64_t>(page.size()))));
        }
    }
    if (const auto folder = parsed->find("figures")) {
        out.note(fmt::format("{} figures are in {}", write_figures(*folder, sections, parsed->common), *folder));
    }
    switch (out.format()) {
        case OutputFormat::table:
            if (file != "-") out.print(answers_of(sections));
            break;
        case OutputFormat::csv:
            out.print(problem_rows(found));
            break;
        case OutputFormat::json:
            out.print_json(Json::array({report::json_of(found)}));
            break;
    }
    return found.damage.empty() ? kExitOk : kExitDatabase;
}

}  // namespace gnntune::tools
