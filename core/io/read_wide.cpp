#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/npy.hpp"
#include "core/io/detail/readers.hpp"
#include "core/io/detail/streams.hpp"
#include "core/io/detail/wide.hpp"

namespace gnntune::io {
namespace detail {

void check_wide(const WideCsrGraph& graph, const std::string& name) {
    try {
        validate_offsets(graph.view());
        validate_ids(graph.view());
    } catch (const Error& error) {
        throw Error(error.kind(), name + ": " + error.what());
    }
}

std::optional<WideCsrGraph> read_wide_npz(const Input& input, const ReadOptions& options) {
    const NpzArchive archive(input.bytes, input.name);
    for (const std::string prefix : {"adj_", "adj_matrix.", ""}) {
        if (!archive.has(prefix + "indptr") || !archive.has(prefix + "indices")) continue;
        const auto open = [&](const std::string& key) { return NpyArray(archive, prefix + key, input.limits); };
        if (archive.has(prefix + "format") && open("format").read_text() != "csr") return std::nullopt;
        WideCsrGraph g;
        NpyArray offsets = open("indptr");
        NpyArray ids = open("indices");
        offsets.require_vector();
        ids.require_vector();
        const auto n = static_cast<std::int64_t>(std::min<std::uint64_t>(offsets.count(), 1ull << 62)) - 1;
        if (n < 0) fail(offsets.where(), "is empty, expected one offset more than there are rows");
        std::int64_t n_rows = n;
        std::int64_t n_cols = n;
        if (archive.has(prefix + "shape")) {
            NpyArray shape = open("shape");
            if (shape.count() != 2) fail(shape.where(), "has {} elements, expected 'rows, columns'", shape.count());
            const auto sizes = shape.read_int64();
            n_rows = sizes[0];
            n_cols = sizes[1];
            if (n_cols < 0) fail(shape.where(), "is {} x {}: sizes must not be negative", n_rows, n_cols);
        }
        if (n_rows != n) {
            fail(offsets.where(), "has {} offsets, but the shape {} x {} asks for {}", n + 1, n_rows, n_cols,
                 n_rows + 1);
        }
        require_counts(n_rows, n_cols, 0, input.name);
        input.limits.require_columns(n_cols, offsets.bytes() + ids.bytes(), input.name);
        g.n_rows = static_cast<std::int32_t>(n_rows);
        g.n_cols = static_cast<std::int32_t>(n_cols);
        g.row_ptr = offsets.read_int64();
        g.col_idx = ids.read_int32();
        check_wide(g, input.name);
        if (archive.has(prefix + "data")) {
            NpyArray data = open("data");
            data.require_values(ids.count());  // ignored or not: such a file was not written whole
            if (options.ignore_weights) return g;
            g.edge_weight = data.read_float();
            // As scipy writes it for a graph without weights.
            if (std::all_of(g.edge_weight.begin(), g.edge_weight.end(), [](float w) { return w == 1.0F; })) {
                g.edge_weight = {};
            }
        }
        return g;
    }
    return std::nullopt;
}

namespace {

std::optional<WideCsrGraph> read_wide(const Input& all, const ReadOptions& options) {
    const Input input{all.bytes, all.name, all.limits.without(all.bytes.held_bytes())};
    if (input.bytes.size() == 0) fail(input.name, "is empty (0 bytes); expected a graph");
    std::optional<Format> format = options.format;
    if (!format) format = sniff_bytes(input.bytes, input.name, input.limits, options.ignore_weights).format;
    if (format != Format::gnng && format != Format::npz) return std::nullopt;
    const auto read = [&](const Input& plain) -> std::optional<WideCsrGraph> {
        if (format == Format::gnng) return read_wide_gnng(plain, options);
        return read_wide_npz(plain, options);
    };
    if (compression_of(input.bytes) == Compression::none) return read(input);
    const auto content = read_content(input.bytes, input.name, input.limits);
    return read({*content, input.name, input.limits.without(content->held_bytes())});
}

WideCsrGraph widened(CsrGraph&& graph) {
    WideCsrGraph g;
    g.n_rows = graph.n_rows;
    g.n_cols = graph.n_cols;
    g.row_ptr.assign(graph.row_ptr.begin(), graph.row_ptr.end());
    g.col_idx = std::move(graph.col_idx);
    g.edge_weight = std::move(graph.edge_weight);
    return g;
}

}  // namespace
}  // namespace detail

namespace {

bool changes(const ReadOptions& options) {
    return options.reverse || options.remove_self_loops || options.merge_duplicates || options.make_symmetric;
}

/// Nothing for lists, and for graphs that are to be changed: what read_graph holds.
std::optional<WideCsrGraph> try_wide(const detail::RandomBytes& bytes, const std::string& name,
                                     const detail::Limits& limits, const ReadOptions& options) {
    if (changes(options)) return std::nullopt;
    const auto out_of_memory = [&] {
        return Error(ErrorKind::out_of_memory,
                     name + ": memory ran out while it was read; use a machine with more memory");
    };
    try {
        return detail::read_wide({bytes, name, limits}, options);
    } catch (const std::bad_alloc&) {
        throw out_of_memory();
    } catch (const std::length_error&) {
        throw out_of_memory();
    }
}

}  // namespace

WideCsrGraph read_wide_graph(const std::filesystem::path& path, const ReadOptions& options) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
        const auto limits = detail::Limits::from(options);
        const auto bytes = detail::open_bytes(path, limits);
        if (auto graph = try_wide(*bytes, path.string(), limits, options)) return *std::move(graph);
    }
    return detail::widened(read_graph(path, options).graph);
}

WideCsrGraph read_wide_graph_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options) {
    const detail::MemoryBytes memory(bytes, name);
    if (auto graph = try_wide(memory, name, detail::Limits::from(options), options)) return *std::move(graph);
    return detail::widened(read_graph_bytes(bytes, name, options).graph);
}

void write_wide_graph(const std::filesystem::path& path, const WideCsrGraph& graph) {
    detail::check_wide(graph, path.string());
    detail::Output out(path);
    detail::write_wide_gnng(out, graph);
    out.commit();
}

}  // namespace gnntune::io
