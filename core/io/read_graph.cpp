// From a path or bytes to a graph: look, dispatch to the reader, apply the fix-ups.
#include <exception>
#include <new>
#include <stdexcept>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/readers.hpp"
#include "core/io/detail/streams.hpp"

namespace gnntune::io {
namespace {

using detail::Input;
using detail::RawGraph;

/// .npz and .gnng need random access: where they are compressed as a whole, they are unpacked into memory first.
RawGraph read_binary(const Input& input, const ReadOptions& options, Format format) {
    const auto read = format == Format::npz ? detail::read_npz : detail::read_gnng;
    if (detail::compression_of(input.bytes) == detail::Compression::none) return read(input, options);
    const auto content = detail::read_content(input.bytes, input.name, input.limits);
    return read({*content, input.name, input.limits.without(content->held_bytes())}, options);
}

RawGraph read_format(const Input& input, const ReadOptions& options, Format format, const Input* indicator) {
    switch (format) {
        case Format::matrix_market:
            return detail::read_mtx(input, options);
        case Format::edge_list:
            return detail::read_edge_list(input, options);
        case Format::metis:
            return detail::read_metis(input, options);
        case Format::tu:
            return detail::read_tu(input, indicator, options);
        case Format::npz:
        case Format::gnng:
            return read_binary(input, options, format);
    }
    throw invalid_argument("unknown graph format");
}

Error out_of_memory(const Input& input) {
    const detail::Limits::Asked& asked = *input.limits.asked;
    std::string words = input.name + ": memory ran out while it was read";
    if (asked.bytes > 0) words += fmt::format(", where {} were to take {} MiB", asked.what, (asked.bytes >> 20) + 1);
    return {ErrorKind::out_of_memory, words + "; use a machine with more memory, or split the graph"};
}

/// What options ask for that a graph of this format has no use for. `raw` is as it was read, before the fix-ups.
std::vector<std::string> not_applied(const RawGraph& raw, Format format, const ReadOptions& options) {
    std::vector<std::string> out;
    const bool edges = format == Format::edge_list;
    const bool from_one = format == Format::matrix_market || format == Format::metis;
    const CsrGraph& g = raw.graph;
    if (options.relabel && !edges) {
        out.push_back(
            fmt::format("--relabel does not apply to {}: it numbers the ids of edge lists", format_name(format)));
    }
    if (options.base && !edges && format != Format::tu && *options.base != (from_one ? 1 : 0)) {
        out.push_back(fmt::format("--base {} does not apply to {}, where ids start at {}", *options.base,
                                  format_name(format), from_one ? 1 : 0));
    }
    const bool counted = options.vertices && !raw.fix_ups.vertices;
    if (counted && (g.n_rows != *options.vertices || g.n_cols != *options.vertices)) {
        out.push_back(fmt::format("--vertices {} does not apply to {} that says itself it is {} x {}",
                                  *options.vertices, format_name(format), g.n_rows, g.n_cols));
    }
    return out;
}

LoadedGraph load(const Input& all, const ReadOptions& options, const Input* indicator, const std::string& source) {
    const Input input{all.bytes, all.name, all.limits.without(all.bytes.held_bytes())};
    try {
        std::optional<Format> format = options.format;
        if (input.bytes.size() == 0) detail::fail(input.name, "is empty (0 bytes); expected a graph");
        if (indicator) format = Format::tu;
        if (!format) {
            const Sniffed sniffed = detail::sniff_bytes(input.bytes, input.name, input.limits, options.ignore_weights);
            if (!sniffed.format) detail::fail(input.name, "is no graph: {}", sniffed.reason);
            format = sniffed.format;
        }
        RawGraph raw = read_format(input, options, *format, indicator);
        LoadedGraph loaded;
        loaded.not_applied = not_applied(raw, *format, options);
        detail::apply_fix_ups(raw, options, input);
        loaded.graph = std::move(raw.graph);
        loaded.name = graph_name(input.name);
        loaded.format = std::move(raw.format);
        loaded.source = source;
        loaded.fix_ups = raw.fix_ups;
        loaded.warnings = std::move(raw.warnings);
        loaded.original_ids = std::move(raw.original_ids);
        return loaded;
    } catch (const std::bad_alloc&) {
        throw out_of_memory(input);
    } catch (const std::length_error&) {
        throw out_of_memory(input);
    }
}

LoadedGraph read_tu_folder(const detail::TuFolder& tu, const ReadOptions& options, const std::string& source) {
    const auto limits = detail::Limits::from(options);
    const auto pairs = detail::open_bytes(tu.pairs, limits);
    const auto indicator = detail::open_bytes(tu.indicator, limits);
    const Input indicator_input{*indicator, tu.indicator.string(), limits};
    LoadedGraph loaded = load({*pairs, tu.pairs.string(), limits}, options, &indicator_input, source);
    loaded.name = tu.name;
    if (!tu.unread.empty() && !options.ignore_weights) {
        std::string& remarks = loaded.fix_ups.remarks;
        remarks += fmt::format("{}left out {}: no weights are read from TU", remarks.empty() ? "" : ", ", tu.unread);
    }
    if (options.format && *options.format != Format::tu) {
        loaded.not_applied.push_back(
            fmt::format("--from {} does not apply: this is a TU data set; name its file {} to read that one so",
                        format_name(*options.format), tu.pairs.filename().string()));
    }
    return loaded;
}

LoadedGraph read_folder(const std::filesystem::path& path, const ReadOptions& options) {
    const detail::TuFolder tu = detail::find_tu(path);
    if (!tu.pairs.empty()) return read_tu_folder(tu, options, path.string());
    const FolderScan scan = find_graphs(path, 0);
    if (scan.graphs.size() == 1) return read_graph(scan.graphs.front().path, options);
    std::string names;
    for (std::size_t i = 0; i < scan.graphs.size() && i < 5; ++i) {
        names += (names.empty() ? " (" : ", ") + scan.graphs[i].path.filename().string();
    }
    if (scan.graphs.size() > 5) names += ", ...";
    detail::fail(path.string(), "is a folder with {} graphs{}; name one of them", scan.graphs.size(),
                 names.empty() ? names : names + ')');
}

}  // namespace

LoadedGraph read_graph(const std::filesystem::path& path, const ReadOptions& options) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return read_folder(path, options);
    const auto limits = detail::Limits::from(options);
    const auto bytes = detail::open_bytes(path, limits);
    // A TU file named alone still has its vertices counted by the file beside it.
    if ((!options.format || *options.format == Format::tu) && detail::plain_name(path).ends_with("_a.txt")) {
        const detail::TuFolder tu = detail::find_tu(path.parent_path().empty() ? "." : path.parent_path());
        if (!tu.pairs.empty() && tu.pairs.filename() == path.filename())
            return read_tu_folder(tu, options, path.string());
    }
    return load({*bytes, path.string(), limits}, options, nullptr, path.string());
}

LoadedGraph read_graph_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options) {
    const detail::MemoryBytes memory(bytes, name);
    return load({memory, name, detail::Limits::from(options)}, options, nullptr, name);
}

}  // namespace gnntune::io
