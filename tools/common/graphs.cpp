#include "tools/common/graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>
#include <system_error>

#include "core/common/error.hpp"
#include "core/generate/generate.hpp"
#include "profiles/fields/features_json.hpp"
#include "tools/common/parse.hpp"
#include "tools/common/suggest.hpp"

namespace gnntune::tools {
namespace {

namespace fs = std::filesystem;

void tell_fix_ups(Output& out, const InputGraph& input, const io::FixUps& done) {
    if (input.fix_ups.empty()) return;
    const char* advice = done.unused_ids > 0 ? "; --relabel leaves out ids without edges" : "";
    out.note(fmt::format("{}: {}{}", input.name, input.fix_ups, advice));
}

/// Whether the command line names the file. Of those that a folder or a list brings, options are for the ones that have
/// a use for them.
enum class Named { yes, no };

void tell_not_applied(Output& out, const io::LoadedGraph& loaded, Named named) {
    for (const std::string& words : loaded.not_applied) {
        const std::string sentence = fmt::format("{}: {}", loaded.source, words);
        if (named == Named::yes) throw invalid_argument(sentence + "; leave it out");
        out.note(sentence);
    }
}

GraphArgument file_argument(const fs::path& path, std::string name, const io::ReadOptions& options, Named named) {
    auto load = [path, options, named](Output& out) {
        io::LoadedGraph loaded = io::read_graph(path, options);
        tell_not_applied(out, loaded, named);
        for (const std::string& words : loaded.warnings) out.warn(words);
        InputGraph input;
        input.graph = std::move(loaded.graph);
        input.name = std::move(loaded.name);
        input.format = std::move(loaded.format);
        input.fix_ups = loaded.fix_ups.text();
        input.source = loaded.source;
        if (options.format) input.source += fmt::format(" (as {})", io::format_name(*options.format));
        if (options.reverse) input.source += " (reversed)";
        if (!input.fix_ups.empty()) input.source += " (" + input.fix_ups + ")";
        tell_fix_ups(out, input, loaded.fix_ups);
        return input;
    };
    return {std::move(name), path.string(), std::move(load), false};
}

/// In its place among the graphs, so that it is told and counted as one that shows its damage while it is read.
GraphArgument damaged_argument(const io::SkippedFile& file) {
    const std::string words = fmt::format("{}: {}", file.path.string(), file.reason);
    auto load = [words](Output&) -> InputGraph { throw input_error(words); };
    return {io::graph_name(file.path), file.path.string(), std::move(load), true};
}

GraphArgument standin_argument(const std::string& argument, const io::ReadOptions& options) {
    refuse_reading(options, fmt::format("{}: a stand-in is generated as its recipe says; generate it into a file first "
                                        "(gnntune generate {} -o FILE), or leave them out",
                                        argument, argument));
    return generated_argument(generate::standin(argument));
}

void add_folder(const fs::path& folder, const io::ReadOptions& options, Output& out,
                std::vector<GraphArgument>& found) {
    const io::FolderScan scan = io::find_graphs(folder, 2, options);
    const std::size_t before = found.size();
    std::size_t others = 0;
    for (const auto& skipped : scan.skipped) {
        if (skipped.damaged) {
            found.push_back(damaged_argument(skipped));
            continue;
        }
        ++others;
        out.note(fmt::format("skipped {}: {}", skipped.path.string(), skipped.reason));
    }
    if (scan.graphs.empty() && others == scan.skipped.size()) {
        throw input_error(
            fmt::format("{}: no graph in this folder ({} file{} looked at); expected Matrix Market, edge "
                        "lists, .npz, TU, METIS or .gnng (gnntune list formats)",
                        folder.string(), scan.skipped.size(), scan.skipped.size() == 1 ? "" : "s"));
    }
    if (others > 0) {
        out.note(fmt::format("{}: {} graph{}, {} other file{} skipped", folder.string(), scan.graphs.size(),
                             scan.graphs.size() == 1 ? "" : "s", others, others == 1 ? "" : "s"));
    }
    for (const auto& graph : scan.graphs) {
        const Named named = graph.path == folder ? Named::yes : Named::no;  // a TU data set is a folder
        found.push_back(file_argument(graph.path, graph.name, options, named));
    }
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
              [](const GraphArgument& a, const GraphArgument& b) { return fs::path(a.source) < fs::path(b.source); });
}

void add_path(const std::string& argument, const io::ReadOptions& options, Named named, Output& out,
              std::vector<GraphArgument>& found) {
    if (argument.starts_with(kStandinPrefix) && !names_a_file(argument)) {
        found.push_back(standin_argument(argument, options));
        return;
    }
    const fs::path path(argument);
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (!fs::status_known(status)) {
        throw input_error(fmt::format("{}: cannot be reached: {}", argument, failed.message()));
    }
    if (!fs::exists(status)) {
        throw input_error(fmt::format("{}: no such file or folder", argument));
    }
    if (fs::is_directory(status)) {
        add_folder(path, options, out, found);
        return;
    }
    // A pipe can be read once: what it holds shows then.
    if (!options.format && fs::is_regular_file(status)) {
        const io::Sniffed sniffed = io::sniff_format(path, options);
        if (!sniffed.format) throw input_error(fmt::format("{}: not a graph: {}", argument, sniffed.reason));
    }
    found.push_back(file_argument(path, io::graph_name(path), options, named));
}

std::string list_text(const std::string& list) {
    constexpr std::size_t kLargestList = std::size_t{16} << 20;
    const auto unreadable = [&](const std::string& why) {
        return input_error(fmt::format("{}: the list of graphs cannot be read: {}", list, why));
    };
    std::error_code failed;
    if (fs::is_directory(list, failed)) throw unreadable("it is a folder; name it without @");
    errno = 0;
    std::ifstream file(list, std::ios::binary);
    if (!file) throw unreadable(errno != 0 ? std::generic_category().message(errno) : "it cannot be opened");
    std::string text(1 << 16, '\0');
    std::size_t size = 0;
    while (file.read(text.data() + size, static_cast<std::streamsize>(text.size() - size))) {
        size = text.size();
        if (size > kLargestList) {
            throw input_error(
                fmt::format("{}: is over {} MiB, expected a list with one file, folder or stand-in on each line", list,
                            size >> 20));
        }
        text.resize(2 * size);
    }
    text.resize(size + static_cast<std::size_t>(file.gcount()));
    if (file.bad()) throw unreadable("reading failed");
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
    if (text.find('\0') != std::string::npos) {
        throw input_error(
            fmt::format("{}: holds bytes of 0, expected a list with one file, folder or stand-in on each line", list));
    }
    return text;
}

void add_list(const std::string& list, const io::ReadOptions& options, Output& out, std::vector<GraphArgument>& found) {
    std::istringstream lines(list_text(list));
    std::size_t number = 0;
    const std::size_t before = found.size();
    for (std::string line; std::getline(lines, line);) {
        ++number;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
        line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
        if (line.empty() || line.front() == '#') continue;
        try {
            add_path(line, options, Named::no, out, found);
        } catch (const Error& error) {
            throw Error(error.kind(), fmt::format("{} line {}: {}", list, number, error.what()));
        }
    }
    if (found.size() == before) throw input_error(fmt::format("{}: the list names no graph", list));
}

}  // namespace

GraphArgument generated_argument(const generate::Recipe& recipe) {
    auto load = [recipe](Output& out) {
        out.detail(fmt::format("{}: generated: {}", recipe.name, generate::text(recipe)));
        InputGraph input;
        input.graph = generate::generate(recipe);
        input.name = recipe.name;
        input.source = generate::text(recipe);
        input.format = "generated";
        return input;
    };
    return {recipe.name, generate::text(recipe), std::move(load), false};
}

bool names_a_file(const std::string& word) {
    std::error_code ignored;
    return fs::exists(word, ignored);
}

void refuse_reading(const io::ReadOptions& options, const std::string& why) {
    if (options.reverse || options.ignore_weights || options.remove_self_loops || options.merge_duplicates ||
        options.make_symmetric || options.format || options.base || options.relabel || options.vertices) {
        throw invalid_argument("the options for reading graphs do not apply: " + why);
    }
}

void add_graph_options(Options& options) {
    namespace po = boost::program_options;
    // clang-format off
    options.group("Reading graphs").add_options()
        ("reverse", po::bool_switch(), "swap rows and columns: edges point the other way")
        ("remove-self-loops", po::bool_switch(), "drop edges from a vertex to itself")
        ("merge-duplicates", po::bool_switch(), "one edge for each pair; weights add up")
        ("symmetric", po::bool_switch(), "add the missing reverse edges")
        ("ignore-weights", po::bool_switch(), "read an unweighted graph whatever the file holds")
        ("base", value("N"), "edge lists and TU: vertex ids start at 0 or 1 (default: 1 for TU and where the smallest is 1)")
        ("vertices", value("N"), "edge lists and arrays of pairs: number of vertices (default: the largest id and those below)")
        ("relabel", po::bool_switch(), "edge lists: number the ids that occur anew from 0")
        ("from", value("FORMAT"), "take this format instead of looking at the content: mtx, edges, npz, tu, metis, gnng");
    // clang-format on
}

io::ReadOptions read_options(const Parsed& parsed) {
    io::ReadOptions options;
    options.reverse = parsed.flag("reverse");
    options.remove_self_loops = parsed.flag("remove-self-loops");
    options.merge_duplicates = parsed.flag("merge-duplicates");
    options.make_symmetric = parsed.flag("symmetric");
    options.ignore_weights = parsed.flag("ignore-weights");
    if (const auto base = parsed.integer("base", 0, 1)) options.base = static_cast<int>(*base);
    options.vertices = parsed.integer("vertices", 0, std::numeric_limits<std::int32_t>::max() - 1);
    options.relabel = parsed.flag("relabel");
    if (options.relabel && (options.base || options.vertices)) {
        throw invalid_argument("--relabel numbers the ids that occur anew: it goes with neither --base nor --vertices");
    }
    if (const auto word = parsed.find("from")) {
        options.format = io::parse_format(*word);
        if (!options.format) {
            throw invalid_argument(fmt::format("--from: expected mtx, edges, npz, tu, metis or gnng, not '{}'", *word));
        }
    }
    return options;
}

std::vector<GraphArgument> find_graphs(const std::vector<std::string>& arguments, const io::ReadOptions& options,
                                       Output& out) {
    std::vector<GraphArgument> found;
    for (const std::string& argument : arguments) {
        if (argument.size() > 1 && argument.front() == '@') {
            add_list(argument.substr(1), options, out, found);
        } else {
            add_path(argument, options, Named::yes, out, found);
        }
    }
    return found;
}

std::optional<InputGraph> load_among(const GraphArgument& argument, std::size_t of, Output& out) {
    try {
        return argument.load(out);
    } catch (const Error& e) {
        const bool too_large = e.kind() == ErrorKind::unsupported || e.kind() == ErrorKind::out_of_memory;
        // An option that this graph has no use for may be for the others.
        const bool not_for_this = e.kind() == ErrorKind::invalid_argument && of > 1;
        if (e.kind() != ErrorKind::input && !too_large && !not_for_this) throw;
        if (of < 2) throw input_error(e.what());
        out.warn(fmt::format("{} is left out: {}", argument.name, e.what()));
        return std::nullopt;
    }
}

std::string sized_name(const InputGraph& input) {
    return fmt::format("{} ({} x {}, {} entries)", input.source, input.graph.n_rows, input.graph.n_cols,
                       input.graph.m());
}

bool hold_among(const std::string& sized, std::size_t of, Output& out, const std::function<void()>& work) {
    std::string why = "memory ran out";
    try {
        work();
        return true;
    } catch (const std::bad_alloc&) {
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::out_of_memory) throw;
        why = e.what();
    }
    if (of < 2) throw input_error(fmt::format("{}: {}; use a machine with more memory", sized, why));
    out.warn(fmt::format("{} is left out: {}", sized, why));
    return false;
}

bool GraphReader::hold(const std::function<void()>& work) {
    const bool held = hold_among(sized_, graphs_.size(), out_, work);
    all_read_ = all_read_ && held;
    return held;
}

GraphReader::GraphReader(const Parsed& parsed, Output& out)
    : graphs_(find_graphs(parsed.arguments, read_options(parsed), out)), out_(out) {}

std::optional<InputGraph> GraphReader::next() {
    while (next_ < graphs_.size()) {
        auto input = load_among(graphs_[next_++], graphs_.size(), out_);
        if (input) {
            sized_ = sized_name(*input);
            return input;
        }
        all_read_ = false;
    }
    return std::nullopt;
}

GraphArgument find_graph(const std::string& argument, const io::ReadOptions& options, Output& out) {
    std::vector<GraphArgument> found = find_graphs({argument}, options, out);
    for (const GraphArgument& graph : found) {
        if (!graph.damaged || found.size() == 1) continue;
        (void)load_among(graph, found.size(), out);
    }
    if (found.size() > 1) std::erase_if(found, [](const GraphArgument& graph) { return graph.damaged; });
    if (found.size() == 1) return std::move(found.front());
    std::vector<std::string> names;
    for (const GraphArgument& graph : found) names.push_back(graph.source);
    throw input_error(fmt::format("{}: expected one graph, found {}: {}", argument, found.size(), joined(names)));
}

GraphRecord graph_record(const InputGraph& input) {
    GraphRecord record;
    record.n_rows = input.graph.n_rows;
    record.n_cols = input.graph.n_cols;
    record.m = input.graph.m();
    record.name = input.name;
    record.source = input.source;
    return record;
}

GraphRecord graph_record(const InputGraph& input, const Fingerprint& fingerprint, const Features& features) {
    GraphRecord record = graph_record(input);
    record.fingerprint = fingerprint;
    record.features_json = store::features_text(features);
    return record;
}

}  // namespace gnntune::tools
