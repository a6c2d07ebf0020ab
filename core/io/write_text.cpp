// The text formats: Matrix Market, edge lists, METIS. Weights are written so that they read back bit for bit.
#include <charconv>
#include <cmath>

#include "core/graph/convert.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/output.hpp"

namespace gnntune::io::detail {
namespace {

/// One line, put together without allocation.
class Line {
public:
    template <typename T>
    Line& add(T number, char behind) {
        end_ = std::to_chars(end_, text_ + sizeof text_, number).ptr;
        *end_++ = behind;
        return *this;
    }
    void put(Output& out) {
        out.write(text_, static_cast<std::size_t>(end_ - text_));
        end_ = text_;
    }

private:
    char text_[96];
    char* end_ = text_;
};

void require_finite(const Output& out, const CsrView& graph) {
    for (std::int64_t e = 0; graph.edge_weight && e < graph.m; ++e) {
        if (!std::isfinite(graph.edge_weight[e])) {
            throw unsupported(
                fmt::format("{}: weight {} is not a finite number, which no graph file may hold", out.name(), e));
        }
    }
}

/// Calls `write(row, column, edge)` for each entry.
template <typename Write>
void for_each_entry(const CsrView& graph, Write write) {
    for (std::int32_t i = 0; i < graph.n_rows; ++i) {
        for (std::int32_t e = graph.row_ptr[i]; e < graph.row_ptr[i + 1]; ++e) write(i, graph.col_idx[e], e);
    }
}

}  // namespace

void write_mtx(Output& out, const CsrView& graph) {
    require_finite(out, graph);
    out.write(fmt::format("%%MatrixMarket matrix coordinate {} general\n", graph.edge_weight ? "real" : "pattern"));
    out.write(fmt::format("{} {} {}\n", graph.n_rows, graph.n_cols, graph.m));
    Line line;
    for_each_entry(graph, [&](std::int64_t i, std::int64_t j, std::int32_t e) {
        line.add(i + 1, ' ').add(j + 1, graph.edge_weight ? ' ' : '\n');
        if (graph.edge_weight) line.add(graph.edge_weight[e], '\n');
        line.put(out);
    });
}

void write_edge_list(Output& out, const CsrView& graph) {
    require_finite(out, graph);
    if (graph.n_rows != graph.n_cols) {
        throw unsupported(fmt::format("{}: an edge list cannot hold a {} x {} matrix; write it as mtx, npz or gnng",
                                      out.name(), graph.n_rows, graph.n_cols));
    }
    out.write(fmt::format("# Nodes: {} Edges: {}\n# source\ttarget{}, 0-based\n", graph.n_rows, graph.m,
                          graph.edge_weight ? "\tweight" : ""));
    Line line;
    for_each_entry(graph, [&](std::int32_t i, std::int32_t j, std::int32_t e) {
        line.add(j, '\t').add(i, graph.edge_weight ? '\t' : '\n');
        if (graph.edge_weight) line.add(graph.edge_weight[e], '\n');
        line.put(out);
    });
}

void write_metis(Output& out, const CsrView& view) {
    const auto refuse = [&](std::string_view why, const std::string& mends = {}) {
        throw unsupported(fmt::format("{}: METIS holds {}; {}write it as mtx, npz or gnng", out.name(), why, mends));
    };
    if (view.n_rows != view.n_cols) refuse("square matrices only");
    CsrGraph g;
    g.n_rows = view.n_rows;
    g.n_cols = view.n_cols;
    g.row_ptr.assign(view.row_ptr, view.row_ptr + view.n_rows + 1);
    g.col_idx.assign(view.col_idx, view.col_idx + view.m);
    if (view.edge_weight) g.edge_weight.assign(view.edge_weight, view.edge_weight + view.m);
    sort_columns(g);
    const CsrGraph t = reverse(g.view());
    const bool symmetric = t.row_ptr == g.row_ptr && t.col_idx == g.col_idx;
    bool loops = false;
    bool duplicates = false;
    bool whole = true;
    for_each_entry(g.view(), [&](std::int32_t i, std::int32_t j, std::int32_t e) {
        loops = loops || i == j;
        duplicates = duplicates ||
                     (e > g.row_ptr[static_cast<std::size_t>(i)] && g.col_idx[static_cast<std::size_t>(e) - 1] == j);
        const float w = g.weighted() ? g.edge_weight[static_cast<std::size_t>(e)] : 1.0f;
        whole = whole && w >= 1.0f && w <= 16777216.0f && w == std::floor(w);
    });
    // All at once, with the options that mend it: one after the other would take as many tries.
    std::string why;
    std::string options;
    const auto lacks = [&](bool lacking, std::string_view words, std::string_view option) {
        if (!lacking) return;
        why += fmt::format("{}{}", why.empty() ? "" : ", ", words);
        options += fmt::format(" {}", option);
    };
    lacks(loops, "no self loops", "--remove-self-loops");
    lacks(duplicates, "no duplicate edges", "--merge-duplicates");
    lacks(!symmetric, "symmetric graphs only", "--symmetric");
    lacks(!whole, "no weights but whole numbers from 1", "--ignore-weights");
    lacks(symmetric && whole && t.edge_weight != g.edge_weight, "one weight for both directions of an edge",
          "--ignore-weights");
    if (!why.empty()) refuse(why, fmt::format("gnntune convert mends that with{}, or ", options));
    out.write(fmt::format("{} {}{}\n", g.n_rows, g.m() / 2, g.weighted() ? " 001" : ""));
    Line line;
    for (std::size_t i = 0; i < static_cast<std::size_t>(g.n_rows); ++i) {
        for (auto e = static_cast<std::size_t>(g.row_ptr[i]); e < static_cast<std::size_t>(g.row_ptr[i + 1]); ++e) {
            line.add(std::int64_t{g.col_idx[e]} + 1, ' ');
            if (g.weighted()) line.add(static_cast<std::int32_t>(g.edge_weight[e]), ' ');
            line.put(out);
        }
        out.write("\n");
    }
}

}  // namespace gnntune::io::detail
