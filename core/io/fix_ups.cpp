// From parsed edges to a CSR graph, and the changes to it that a user may ask for.
#include <algorithm>
#include <limits>
#include <string_view>

#include "core/graph/convert.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/readers.hpp"

namespace gnntune::io {

std::string FixUps::text() const {
    std::string out;
    const auto add = [&out](std::int64_t count, std::string_view verb, std::string_view one, std::string_view many) {
        if (count > 0) out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ", verb, count, count == 1 ? one : many);
    };
    add(skipped_header_lines, "skipped", "header line", "header lines");
    add(relabelled_ids, "relabelled", "id", "ids");
    const auto number = [&out](const auto& value, std::string_view words) {
        if (value) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", words, *value);
    };
    number(first_id, "took ids from");
    number(vertices, "set vertices to");
    add(unused_ids, "kept", "id without edges", "ids without edges");
    add(mirrored_entries, "mirrored", "symmetric entry", "symmetric entries");
    add(dropped_unit_weights, "dropped", "weight, which is 1", "weights, which are all 1");
    add(ignored_weights, "ignored", "weight", "weights");
    add(rounded_weights, "rounded", "whole weight beyond 2^24 to float32", "whole weights beyond 2^24 to float32");
    add(vanished_weights, "zeroed", "weight too small for float32", "weights too small for float32");
    add(removed_self_loops, "removed", "self loop", "self loops");
    add(merged_duplicates, "merged", "duplicate", "duplicates");
    add(added_reverse_edges, "added", "reverse edge", "reverse edges");
    if (!remarks.empty()) out += (out.empty() ? "" : ", ") + remarks;
    return out;
}

namespace detail {
namespace {

// --vertices is for square matrices.
constexpr std::string_view kOfRectangles = "leave out the rows or columns without entries and number the others anew";

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

/// Keeps the entries for which `keep(row, position)` holds, in place, and returns how many went.
template <typename Keep>
std::int64_t filter_entries(CsrGraph& g, Keep keep) {
    std::int32_t out = 0;
    std::int32_t begin = 0;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        const std::int32_t end = g.row_ptr[at(i) + 1];
        const std::int32_t row_out = out;
        for (std::int32_t p = begin; p < end; ++p) {
            if (!keep(i, p, row_out, out)) continue;
            g.col_idx[at(out)] = g.col_idx[at(p)];
            if (g.weighted()) g.edge_weight[at(out)] = g.edge_weight[at(p)];
            ++out;
        }
        begin = end;
        g.row_ptr[at(i) + 1] = out;
    }
    const auto gone = static_cast<std::int64_t>(g.col_idx.size()) - out;
    if (g.weighted()) g.edge_weight.resize(at(out));
    g.col_idx.resize(at(out));
    return gone;
}

std::int64_t remove_self_loops(CsrGraph& g) {
    return filter_entries(g, [&g](auto row, auto p, auto, auto) { return g.col_idx[at(p)] != row; });
}

std::int64_t merge_duplicates(CsrGraph& g, const std::string& name) {
    const bool weighted = g.weighted();
    const auto merged = filter_entries(g, [&](std::int32_t, std::int32_t p, std::int32_t row_out, std::int32_t out) {
        if (out == row_out || g.col_idx[at(out) - 1] != g.col_idx[at(p)]) return true;
        if (weighted) g.edge_weight[at(out) - 1] += g.edge_weight[at(p)];
        return false;
    });
    for (const float w : g.edge_weight) {
        if (!std::isfinite(w))
            fail(name, "the weights of duplicate entries add up to more than a float holds; give --ignore-weights");
    }
    return merged;
}

/// Merges A with its transpose, row by row: an entry that both have stays A's own. Returns how many came in.
std::int64_t make_symmetric(CsrGraph& g, const Input& input) {
    if (g.n_rows != g.n_cols) {
        fail(input.name, "a {} x {} matrix has no reverse edges to add; only a square one does", g.n_rows, g.n_cols);
    }
    input.limits.require(static_cast<std::uint64_t>(g.m()) * 32, input.name, "the reverse edges");
    const CsrGraph t = reverse(g.view());
    CsrGraph out;
    out.n_rows = out.n_cols = g.n_rows;
    out.row_ptr.resize(g.row_ptr.size());
    out.row_ptr[0] = 0;
    // Walks the merged row, calling own(p) for A's entries and added(q) for the transpose's.
    const auto merge_row = [&](std::int32_t i, auto own, auto added) {
        std::int32_t p = g.row_ptr[at(i)];
        std::int32_t q = t.row_ptr[at(i)];
        const std::int32_t p_end = g.row_ptr[at(i) + 1];
        const std::int32_t q_end = t.row_ptr[at(i) + 1];
        while (p < p_end || q < q_end) {
            const bool take_own = q == q_end || (p < p_end && g.col_idx[at(p)] <= t.col_idx[at(q)]);
            if (!take_own) {
                added(q++);
                continue;
            }
            if (q < q_end && g.col_idx[at(p)] == t.col_idx[at(q)]) ++q;
            own(p++);
        }
    };
    std::int64_t m = 0;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        merge_row(
            i, [&](std::int32_t) { ++m; }, [&](std::int32_t) { ++m; });
        require_counts(g.n_rows, g.n_cols, m, input.name);
        out.row_ptr[at(i) + 1] = static_cast<std::int32_t>(m);
    }
    out.col_idx.resize(static_cast<std::size_t>(m));
    if (g.weighted()) out.edge_weight.resize(static_cast<std::size_t>(m));
    std::size_t to = 0;
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        const auto put = [&](const CsrGraph& from, std::int32_t p) {
            out.col_idx[to] = from.col_idx[at(p)];
            if (g.weighted()) out.edge_weight[to] = from.edge_weight[at(p)];
            ++to;
        };
        merge_row(
            i, [&](std::int32_t p) { put(g, p); }, [&](std::int32_t q) { put(t, q); });
    }
    const std::int64_t added = m - g.m();
    g = std::move(out);
    return added;
}

}  // namespace

void require_counts(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m, const std::string& name) {
    if (n_rows >= kMaxEdges || n_cols >= kMaxEdges) {
        throw unsupported(
            fmt::format("{}: {} x {} exceeds the int32 formats, which hold 2^31-2 rows and columns; leave out the rows "
                        "and columns without entries and number the others anew",
                        name, n_rows, n_cols));
    }
    if (m > kMaxEdges) {
        throw unsupported(
            fmt::format("{}: {} x {} with {} entries exceeds the int32 formats, which hold 2^31-2 rows and columns and "
                        "2^31-1 entries; tiles of rows hold more entries: save the graph as .gnng, or as .npz with "
                        "scipy's CSR, for read_wide_graph (docs/scaling.md)",
                        name, n_rows, n_cols, m));
    }
}

void check_csr(const CsrGraph& graph, const std::string& name, std::string_view ptr_name, std::string_view idx_name) {
    if (graph.row_ptr[0] != 0) fail(name, "{} starts with {}, expected 0", ptr_name, graph.row_ptr[0]);
    for (std::size_t i = 1; i < graph.row_ptr.size(); ++i) {
        if (graph.row_ptr[i] < graph.row_ptr[i - 1]) {
            fail(name, "{} falls from {} to {} at position {}, expected offsets that never fall", ptr_name,
                 graph.row_ptr[i - 1], graph.row_ptr[i], i);
        }
    }
    if (graph.row_ptr.back() != graph.m()) {
        fail(name, "{} ends with {}, but {} holds {} entries; the file is damaged", ptr_name, graph.row_ptr.back(),
             idx_name, graph.m());
    }
    for (std::size_t e = 0; e < graph.col_idx.size(); ++e) {
        if (graph.col_idx[e] < 0 || graph.col_idx[e] >= graph.n_cols) {
            fail(name, "{}[{}] is {}, outside 0..{}", idx_name, e, graph.col_idx[e], graph.n_cols - 1);
        }
    }
}

void EdgeSink::ensure(std::size_t extra, const Limits& limits, const std::string& name) {
    const std::size_t needed = size + extra;
    if (needed <= rows.size()) return;
    const std::size_t grown = std::max(needed, rows.size() + rows.size() / 2);
    limits.require(grown * (weighted ? 12u : 8u), name, "the edges");
    rows.resize(grown);
    cols.resize(grown);
    if (weighted) weights.resize(grown);
}

CsrGraph to_csr(EdgeSink&& edges, std::int64_t n_rows, std::int64_t n_cols, std::uint64_t data_bytes,
                const Input& input) {
    require_counts(n_rows, n_cols, static_cast<std::int64_t>(edges.size), input.name);
    if (n_cols > n_rows) input.limits.require_columns(n_cols, data_bytes, input.name);
    input.limits.require_vertices(n_rows, data_bytes, input.name,
                                  n_rows == n_cols ? std::string_view() : kOfRectangles);
    edges.rows.resize(edges.size);
    edges.cols.resize(edges.size);
    edges.weights.resize(edges.weighted ? edges.size : 0);
    if (!edges.sorted) {
        input.limits.require(edges.size * (edges.weighted ? 24u : 16u), input.name, "sorting the edges");
        CsrGraph graph = coo_to_csr({static_cast<std::int32_t>(n_rows), static_cast<std::int32_t>(n_cols),
                                     static_cast<std::int64_t>(edges.size), edges.rows.data(), edges.cols.data(),
                                     edges.weighted ? edges.weights.data() : nullptr, MemorySpace::host});
        sort_columns(graph);
        return graph;
    }
    CsrGraph graph;
    graph.n_rows = static_cast<std::int32_t>(n_rows);
    graph.n_cols = static_cast<std::int32_t>(n_cols);
    graph.row_ptr.resize(static_cast<std::size_t>(n_rows) + 1);
    // row_ptr[i] = first entry of a row >= i: one walk over rows that ascend.
    std::size_t i = 0;
    for (std::size_t e = 0; e < edges.size; ++e) {
        for (const auto row = at(edges.rows[e]); i <= row; ++i) graph.row_ptr[i] = static_cast<std::int32_t>(e);
    }
    std::fill(graph.row_ptr.begin() + static_cast<std::ptrdiff_t>(i), graph.row_ptr.end(),
              static_cast<std::int32_t>(edges.size));
    graph.col_idx = std::move(edges.cols);
    graph.edge_weight = std::move(edges.weights);
    return graph;
}

void apply_fix_ups(RawGraph& raw, const ReadOptions& options, const Input& input) {
    CsrGraph& g = raw.graph;
    FixUps& done = raw.fix_ups;
    if (options.ignore_weights && g.weighted()) {
        done.ignored_weights = g.m();
        done.rounded_weights = done.vanished_weights = 0;
        g.edge_weight = {};
    }
    if (options.reverse) {
        input.limits.require_vertices(g.n_cols, raw.data_bytes, input.name,
                                      g.n_rows == g.n_cols ? std::string_view() : kOfRectangles);
        g = reverse(g.view());
    }
    if (options.remove_self_loops) {
        if (g.n_rows == g.n_cols) {
            done.removed_self_loops = remove_self_loops(g);
        } else {
            done.remarks += fmt::format("{}found no self loops in a {} x {} matrix", done.remarks.empty() ? "" : ", ",
                                        g.n_rows, g.n_cols);
        }
    }
    if (options.merge_duplicates) done.merged_duplicates = merge_duplicates(g, input.name);
    if (options.make_symmetric) done.added_reverse_edges = make_symmetric(g, input);
}

}  // namespace detail
}  // namespace gnntune::io
