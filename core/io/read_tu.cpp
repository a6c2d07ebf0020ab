// TU data sets: <DS>_A.txt holds pairs `u, v`, 1-based unless ReadOptions::base says 0; line i of
// <DS>_graph_indicator.txt names the graph of vertex i. The small graphs stay what they are in the file: one
// block-diagonal graph.
#include "core/io/detail/edge_text.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/numbers.hpp"

namespace gnntune::io::detail {
namespace {

std::int64_t count_vertices(const Input& indicator, std::uint64_t& data_bytes) {
    LineReader lines(open_stream(indicator.bytes, indicator.name), indicator.name, indicator.limits);
    std::int64_t n = 0;
    for (std::string_view line; lines.next_line(line);) {
        const char* p = skip_blanks(line.data());
        if (*p == '\n') continue;
        std::uint64_t graph_id = 0;
        const char* const behind = parse_id(p, graph_id);
        if (!behind || *skip_blanks(behind) != '\n') {
            fail_line(indicator.name, lines.line(), "expected the number of a graph, found {}", quoted(p));
        }
        ++n;
    }
    data_bytes += lines.bytes();
    return n;
}

}  // namespace

RawGraph read_tu(const Input& pairs, const Input* indicator, const ReadOptions& options) {
    LineReader lines(open_stream(pairs.bytes, pairs.name), pairs.name, pairs.limits);
    const std::int32_t base = options.base.value_or(1);
    auto text = parse_edge_text<std::int32_t>(lines, pairs.limits, base, ThirdColumn::refused);
    if (text.too_narrow) {
        throw unsupported(fmt::format("{} line {}: id {} is beyond the 2^31-2 vertices that a graph may have",
                                      pairs.name, text.line, text.largest));
    }
    RawGraph raw;
    raw.format = "tu";
    raw.data_bytes = lines.bytes();
    raw.fix_ups.remarks = std::move(text.remark);
    if (base == 0) raw.fix_ups.first_id = 0;
    std::int64_t n = text.source.empty() ? 0 : text.largest + 1 - base;
    if (indicator) {
        const std::int64_t counted = count_vertices(*indicator, raw.data_bytes);
        if (n > counted) {
            fail(pairs.name, "vertex id {} is outside {}..{}; {} has one line for each of {} vertices", text.largest,
                 base, counted - 1 + base, indicator->name, counted);
        }
        n = counted;
    } else if (options.vertices) {
        if (n > *options.vertices) {
            fail(pairs.name, "vertex id {} is outside {}..{}, the {} vertices of --vertices", text.largest, base,
                 *options.vertices - 1 + base, *options.vertices);
        }
        n = *options.vertices;
        raw.fix_ups.vertices = n;
    }
    for (auto& id : text.source) id -= base;
    for (auto& id : text.target) id -= base;
    EdgeSink edges;
    edges.size = text.source.size();
    edges.rows = std::move(text.target);
    edges.cols = std::move(text.source);
    edges.sorted = text.sorted;
    raw.graph = to_csr(std::move(edges), n, n, raw.data_bytes, pairs);
    return raw;
}

}  // namespace gnntune::io::detail
