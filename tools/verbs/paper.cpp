// gnntune paper: the tables and figures of the three papers, ours beside theirs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/io/file.hpp"
#include "profiles/database/file_system.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"
#include "tools/common/typical.hpp"
#include "tools/paper/crossing.hpp"
#include "tools/paper/sheet.hpp"

namespace gnntune::tools {
namespace {

constexpr std::array<double, 2> kCrossingCalls{1, 200};

const paper::Paper& find_paper(const std::string& id) {
    std::vector<std::string> ids;
    for (const paper::Paper& p : paper::papers()) {
        if (p.id == id) return p;
        ids.push_back(p.id);
    }
    throw invalid_argument(
        fmt::format("there is no paper '{}'{}; expected one of {}", id, did_you_mean(id, ids), joined(ids)));
}

/// Of `items`, which are of ops or of whole models; null if it is not there, and `names` are those that are.
template <typename Item>
const Item* among(const std::vector<Item>& items, const std::string& kind, const std::string& number,
                  std::vector<std::string>& names) {
    for (const Item& item : items) {
        if ((kind == "table") != item.is_table) continue;
        if (item.number == number || item.alias == number) return &item;
        names.push_back(item.number);
    }
    return nullptr;
}

Error cannot_be_made(const paper::Paper& p, const std::string& kind, const std::string& number,
                     const std::vector<std::string>& names) {
    return invalid_argument(
        fmt::format("--{}: '{}' of {} cannot be made here; expected one of {}", kind, number, p.id, joined(names)));
}

const paper::Item& find_item(const paper::Paper& p, const std::string& kind, const std::string& number) {
    std::vector<std::string> names;
    if (const auto* item = among(p.items, kind, number, names)) return *item;
    std::vector<std::string> whole;
    if (among(p.whole, kind, number, whole)) {
        throw invalid_argument(fmt::format(
            "{} {} of {} is of whole models; expected --models FILE, the CSV that python/bench/models.py writes", kind,
            number, p.id));
    }
    throw cannot_be_made(p, kind, number, names);
}

const paper::WholeItem& find_whole(const paper::Paper& p, const std::string& kind, const std::string& number) {
    std::vector<std::string> names;
    if (const auto* item = among(p.whole, kind, number, names)) return *item;
    std::vector<std::string> others;
    if (among(p.items, kind, number, others)) {
        throw invalid_argument(
            fmt::format("{} {} of {} has nothing of whole models: leave --models out", kind, number, p.id));
    }
    throw cannot_be_made(p, kind, number, names);
}

std::string content_of(const std::string& path) {
    io::FileReader file(path);
    std::string text;
    for (std::array<char, 65536> piece{};;) {
        const std::size_t got = file.read(piece.data(), piece.size());
        text.append(piece.data(), got);
        if (got < piece.size()) return text;
    }
}

Table list_of(const std::vector<paper::Paper>& list) {
    Table table({{"paper", "paper", ""},
                 {"kind", "kind", ""},
                 {"number", "number", ""},
                 {"title", "title", ""},
                 {"command", "command", ""}});
    for (const paper::Paper& p : list) {
        for (const paper::Item& item : p.items) {
            const std::string kind = item.is_table ? "table" : "figure";
            table.add({p.id, kind, item.number, item.title,
                       fmt::format("gnntune paper {} --{} {}", p.id, kind, item.number)});
        }
        for (const paper::WholeItem& item : p.whole) {
            const std::string kind = item.is_table ? "table" : "figure";
            table.add({p.id, kind, item.number, item.title,
                       fmt::format("gnntune paper {} --{} {} --models FILE", p.id, kind, item.number)});
        }
        if (p.id == "fusegnn") {
            table.add({p.id, std::string("crossing"), std::string(),
                       std::string("Calls from which GAR is cheaper than GAS"),
                       std::string("gnntune paper fusegnn --crossing")});
        }
    }
    return table;
}

/// The database, or nothing where none was named and the user has none: then figures of structure can still be made.
std::optional<store::Store> open_if_there(const CommonOptions& common, Output& out) {
    if (!common.db && !store::is_there(common.database_path())) {
        out.note(fmt::format("{}: there is no database, so nothing was measured", common.database_path().string()));
        return std::nullopt;
    }
    return open_for_reading(common, out);
}

/// `text` behind `head`, broken at blanks and aligned.
Lines paragraph(std::string_view head, const std::string& text) {
    constexpr std::size_t kWidth = 100;
    constexpr std::size_t kIndent = 7;
    Lines out;
    std::string line(head);
    line.resize(kIndent, ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() > kIndent && line.size() + 1 + word.size() > kWidth) {
            out.line(line);
            line.assign(kIndent, ' ');
        }
        if (line.size() > kIndent) line += ' ';
        line += word;
    }
    return out.line(line);
}

std::string source_text(const std::optional<paper::Source>& source) {
    if (!source) return "nothing measured";
    return fmt::format("{}, clock {}, policy hot", source->device, to_text(source->clock));
}

/// False for what follows from graphs alone.
bool is_timed(const paper::Item& item) {
    return std::any_of(item.columns.begin(), item.columns.end(), [](const paper::Column& c) {
        return c.kind == paper::Column::Kind::time || c.kind == paper::Column::Kind::gflops ||
               c.kind == paper::Column::Kind::counted;
    });
}

Json source_json(const std::optional<paper::Source>& source) {
    if (!source) return nullptr;
    return {{"device", source->device}, {"clock", std::string(to_text(source->clock))}, {"policy", "hot"}};
}

/// What a table or figure is, for both kinds of items.
template <typename Item>
Json head_json(const paper::Paper& p, const Item& item) {
    Json data;
    data["paper"] = p.id;
    data["kind"] = item.is_table ? "table" : "figure";
    data["number"] = item.number;
    data["title"] = item.title;
    data["source_in_paper"] = item.source;
    data["paper_device"] = p.device;
    data["paper_says"] = item.says;
    data["ours"] = item.ours;
    return data;
}

void print_lines(const char* head, const std::vector<std::string>& lines, Output& out) {
    if (lines.empty()) return;
    Lines text;
    text.line().line(head);
    for (const std::string& line : lines) text.line("  " + line);
    out.print(text);
}

void print_sheet(const paper::Paper& p, const paper::Item& item, const paper::Sheet& sheet, Output& out) {
    Table table(sheet.columns);
    for (const auto& cells : sheet.rows) table.add(cells);
    switch (out.format()) {
        case OutputFormat::csv:
            out.print(table);
            for (const std::string& command : sheet.commands) out.note("not measured; to fill it: " + command);
            break;
        case OutputFormat::table:
            out.print_line(fmt::format("{}, {}: {}", p.id, item.name(), item.title));
            out.print(paragraph("paper", fmt::format("{}; {}; {}", p.venue, p.device, item.source)));
            out.print(paragraph("", item.says));
            if (is_timed(item)) out.print(paragraph("ours", source_text(sheet.source)));
            out.print(paragraph(is_timed(item) ? "" : "ours", item.ours));
            out.print_line();
            out.print(table);
            print_lines("Notes:", sheet.notes, out);
            print_lines("Not measured (-). These commands fill it:", sheet.commands, out);
            break;
        case OutputFormat::json: {
            Json data = head_json(p, item);
            data["measured"] = source_json(sheet.source);
            data["rows"] = table.json();
            data["notes"] = sheet.notes;
            data["missing"] = sheet.commands;
            out.print_json(Json::array({data}));
            break;
        }
    }
}

void print_whole(const paper::Paper& p, const paper::WholeItem& item, const paper::WholeSheet& sheet, Output& out) {
    Table table(sheet.columns);
    for (const auto& cells : sheet.rows) table.add(cells);
    if (out.format() == OutputFormat::json) {
        Json data = head_json(p, item);
        data["measured"] = sheet.measured;
        data["rows"] = table.json();
        out.print_json(Json::array({data}));
        return;
    }
    if (out.format() == OutputFormat::table) {
        out.print_line(fmt::format("{}, {}: {}", p.id, item.name(), item.title));
        out.print(paragraph("paper", fmt::format("{}; {}; {}", p.venue, p.device, item.source)));
        out.print(paragraph("", item.says));
        if (sheet.measured.empty()) out.print(paragraph("ours", "nothing measured"));
        for (const std::string& text : sheet.measured) {
            out.print(paragraph(&text == &sheet.measured.front() ? "ours" : "", text));
        }
        out.print(paragraph("", item.ours));
        out.print_line();
    }
    out.print(table);
    if (sheet.rows.empty()) {
        out.note(fmt::format(
            "the file has nothing of this; to fill it: python3 python/bench/models.py GRAPHS --csv FILE --parts {}",
            fmt::join(item.part, ",")));
    }
}

Table crossing_table(const std::vector<paper::Crossing>& rows, const std::optional<paper::Source>& source) {
    std::vector<Column> columns{{"graph", "graph", ""},
                                {"n_rows", "rows", "", 0, false},
                                {"edges", "edges", ""},
                                {"degree_mean", "mean degree", "", 1},
                                {"op", "op", "", 0, false},
                                {"k", "k", "", 0, false},
                                {"problem", "problem", ""},
                                {"gas_us", "GAS", "us", 1},
                                {"gar_us", "GAR", "us", 1},
                                {"gas_build_us", "GAS build", "us", 1},
                                {"gar_build_us", "GAR build", "us", 1}};
    for (const double calls : kCrossingCalls) {
        columns.push_back({fmt::format("winner_{:.0f}", calls), fmt::format("{:.0f} calls", calls), ""});
    }
    columns.push_back({"gar_from_calls", "GAR from", "calls", 1});
    columns.push_back({"few_samples", "few samples", ""});
    columns.push_back({"device", "device", "", 0, false});
    columns.push_back({"clock", "clock", "", 0, false});
    Table table(columns);
    for (const paper::Crossing& c : rows) {
        std::vector<Cell> cells{c.graph,
                                c.n_rows,
                                c.m,
                                static_cast<double>(c.m) / static_cast<double>(std::max<std::int64_t>(1, c.n_rows)),
                                std::string(to_text(c.problem.op)),
                                std::int64_t{c.problem.k},
                                to_text(c.problem),
                                c.gas_us,
                                c.gar_us,
                                c.gas_build_us,
                                c.gar_build_us};
        for (const std::string& winner : c.winners) cells.emplace_back(winner);
        cells.push_back(c.calls_for_gar ? Cell(*c.calls_for_gar) : Cell());
        cells.emplace_back(c.few_samples);
        cells.emplace_back(source->device);
        cells.emplace_back(std::string(to_text(source->clock)));
        table.add(std::move(cells));
    }
    return table;
}

void print_crossing(paper::Evidence& evidence, Output& out) {
    std::vector<paper::Crossing> most;
    std::optional<paper::Source> source;
    const std::vector<double> calls(kCrossingCalls.begin(), kCrossingCalls.end());
    for (const paper::Source& candidate : evidence.sources()) {
        auto rows = paper::crossings(evidence, candidate, calls);
        if (rows.size() <= most.size()) continue;
        most = std::move(rows);
        source = candidate;
    }
    const Table table = crossing_table(most, source);
    out.print_line("fusegnn: where GAS and GAR cross, edges coming as raw COO");
    out.print(paragraph("ours", source_text(source)));
    out.print(paragraph("",
                        "Build is what each needs from COO before its first call. GAR from: calls from which it is "
                        "cheaper, - for never."));
    out.print_line();
    if (out.format() != OutputFormat::json) {
        out.print(table);
    } else {
        Json data;
        data["paper"] = "fusegnn";
        data["kind"] = "crossing";
        data["measured"] = source_json(source);
        data["rows"] = table.json();
        out.print_json(Json::array({data}));
    }
    if (most.empty()) {
        out.note(
            "no graph has both; to fill it: gnntune tune GRAPH... --op spmm --dim 16,64,128 --variant "
            "spmm.gas,spmm.gar --exhaustive");
    }
}

GraphRecord record_of(const InputGraph& input) {
    return graph_record(input, fingerprint(input.graph.view()), features_of(input.graph.view()));
}

Options paper_options() {
    Options options(
        "paper",
        {"gnntune paper [options] [PAPER [GRAPH...]]",
         "Prints a table or figure of one of the three papers behind the kernels (tcgnn, fusegnn, esspmm) "
         "with our figure beside the paper's: times from the database, what a graph's structure says from "
         "its features there or from the graphs given, whole models from the CSV of python/bench/models.py. Without a "
         "number: what can be printed.",
         {"gnntune paper tcgnn", "gnntune paper tcgnn --figure 7 data/ standin/ppi",
          "gnntune paper fusegnn --crossing --db papers.db", "gnntune paper esspmm --table IV pubmed.mtx.gz"}});
    options.group("What").add_options()("table", value("N"), "this table of the paper")(
        "figure", value("N"), "this figure of the paper")("crossing", boost::program_options::bool_switch(),
                                                          "fusegnn: over how many calls GAR is cheaper than GAS")(
        "models", value("FILE"), "of whole models, from this CSV of python/bench/models.py (.gz and .xz too)");
    add_graph_options(options);
    return options;
}

}  // namespace

int run_paper(const Args& args) {
    const Options options = paper_options();
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    const auto table = parsed->find("table");
    const auto figure = parsed->find("figure");
    const auto models = parsed->find("models");
    const bool crossing = parsed->flag("crossing");
    if ((table ? 1 : 0) + (figure ? 1 : 0) + (crossing ? 1 : 0) > 1) {
        throw invalid_argument("--table, --figure and --crossing exclude each other");
    }
    if (models && !table && !figure) throw invalid_argument("--models expects --table N or --figure N beside it");
    if (parsed->arguments.size() < 2) refuse_reading(read_options(*parsed), "no graph is given");
    Output out("paper", parsed->common);
    if (parsed->arguments.empty()) {
        if (table || figure || crossing) throw invalid_argument("expected a paper: tcgnn, fusegnn or esspmm");
        out.print(list_of(paper::papers()));
        return kExitOk;
    }
    const paper::Paper& p = find_paper(parsed->arguments.front());
    if (!table && !figure && !crossing) {
        require_arguments(*parsed, 1, 1, "gnntune paper PAPER --table N|--figure N [GRAPH...]");
        out.print(list_of({p}));
        return kExitOk;
    }
    if (crossing) {
        if (p.id != "fusegnn") throw invalid_argument("--crossing is about fusegnn");
        require_arguments(*parsed, 1, 1, "gnntune paper fusegnn --crossing");
        const auto store = open_if_there(parsed->common, out);
        paper::Evidence evidence(registry(), store ? &*store : nullptr);
        print_crossing(evidence, out);
        return kExitOk;
    }
    if (models) {
        const paper::WholeItem& item = find_whole(p, table ? "table" : "figure", table ? *table : *figure);
        require_arguments(*parsed, 1, 1, "gnntune paper PAPER --table N|--figure N --models FILE");
        print_whole(p, item, paper::fill_whole(item, paper::parse_model_rows(content_of(*models), *models)), out);
        return kExitOk;
    }
    const paper::Item& item = find_item(p, table ? "table" : "figure", table ? *table : *figure);
    const auto store = open_if_there(parsed->common, out);
    paper::Evidence evidence(registry(), store ? &*store : nullptr);
    const std::vector<std::string> graphs(parsed->arguments.begin() + 1, parsed->arguments.end());
    const auto found = find_graphs(graphs, read_options(*parsed), out);
    bool all_read = true;
    std::vector<std::string> strange;  // that no row asks for
    for (const GraphArgument& argument : found) {
        const auto input = load_among(argument, found.size(), out);
        all_read = all_read && input;
        if (!input) continue;
        const bool known = std::any_of(p.graphs.begin(), p.graphs.end(),
                                       [&](const auto& graph) { return graph.second.name == input->name; });
        if (!known) strange.push_back(input->name);
        evidence.add_graph(record_of(*input));
    }
    if (!strange.empty()) {
        std::vector<std::string> names;
        for (const auto& [key, graph] : p.graphs) names.push_back(graph.name);
        out.warn(fmt::format("{}: none of the graphs of {}, so no row shows {}; expected some of {}", joined(strange),
                             p.id, strange.size() == 1 ? "it" : "them", joined(names)));
    }
    paper::SheetOptions sheet_options;
    if (parsed->common.db) sheet_options.db = shell_quoted(*parsed->common.db);
    sheet_options.device = typical_device(Backend::cuda);
    print_sheet(p, item, paper::fill(p, item, evidence, sheet_options), out);
    return all_read ? kExitOk : kExitInput;
}

}  // namespace gnntune::tools
