// NumPy archives that hold a graph: scipy CSR, CSC and COO, PyG's adj_* (and adj_matrix.*), `edges` [m, 2],
// `edge_index` [2, m], src/dst and the src_li/dst_li of TC-GNN. Weights are `data`, `edge_weight` or `edge_attr`. A
// single array (.npy) is an edge_index or edges by its shape.
#include <algorithm>
#include <optional>

#include "core/graph/convert.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/npy.hpp"
#include "core/io/detail/readers.hpp"

namespace gnntune::io::detail {
namespace {

enum class Layout { compressed, coordinates, edges, edge_index, lists };

struct Found {
    Layout layout;
    std::string_view prefix;  ///< before indptr, indices, data and shape; behind src and dst
};

std::optional<Found> find_layout(const NpzArchive& archive) {
    for (const std::string_view prefix : {"adj_", "adj_matrix.", ""}) {
        const std::string start(prefix);
        if (archive.has(start + "indptr") && archive.has(start + "indices")) return Found{Layout::compressed, prefix};
        if (archive.has(start + "row") && archive.has(start + "col")) return Found{Layout::coordinates, prefix};
    }
    if (archive.has("edge_index")) return Found{Layout::edge_index, ""};
    if (archive.has("edges")) return Found{Layout::edges, ""};
    if (archive.has("src_li") && archive.has("dst_li")) return Found{Layout::lists, "_li"};
    if (archive.has("src") && archive.has("dst")) return Found{Layout::lists, ""};
    return std::nullopt;
}

std::string no_graph(const NpzArchive& archive) {
    if (archive.holds_pickle()) return torch_advice(archive.name());
    return "an archive that holds " + archive.keys() +
           "; expected indptr and indices, row and col, adj_indptr and adj_indices, edges, edge_index, src and dst, or "
           "src_li and dst_li";
}

/// Whether a matrix of this shape holds a pair in each column (1), in each row (0), or none (-1).
int pairs_by_shape(const std::vector<std::uint64_t>& shape) {
    if (shape.size() != 2 || (shape[0] == 2) == (shape[1] == 2)) return -1;
    return shape[0] == 2 ? 1 : 0;
}

std::string no_pairs(const NpyArray& array) {
    std::string shape;
    for (const auto extent : array.shape()) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    return fmt::format(
        "a single NumPy array of shape ({}){}; of single arrays an edge_index [2, m] or edges [m, 2] of whole numbers "
        "are read, others belong into an .npz under their names",
        shape, array.whole_numbers() ? "" : " and no whole numbers");
}

struct Shape {
    std::int64_t n_rows;
    std::int64_t n_cols;
};

bool is_single_array(const RandomBytes& bytes) {
    char start[kNpyMagic.size()];
    if (bytes.size() < sizeof start) return false;
    bytes.read_at(0, start, sizeof start);
    return std::string_view(start, sizeof start) == kNpyMagic;
}

/// Reads one archive; holds what all layouts share.
class Reader {
public:
    /// `archive` has no members where a single array is read.
    Reader(const NpzArchive& archive, const Input& input, const ReadOptions& options)
        : archive_(archive), input_(input), options_(options) {}

    RawGraph read(const Found& found) {
        switch (found.layout) {
            case Layout::compressed:
                read_compressed(std::string(found.prefix));
                break;
            case Layout::coordinates:
                read_coordinates(std::string(found.prefix));
                break;
            case Layout::edges:
            case Layout::edge_index:
                read_pairs(found.layout == Layout::edge_index);
                break;
            case Layout::lists:
                read_lists(std::string(found.prefix));
                break;
        }
        return std::move(raw_);
    }

    /// Of a single array.
    RawGraph read(NpyArray&& array) {
        const int by_column = pairs_by_shape(array.shape());
        if (by_column < 0 || !array.whole_numbers()) fail(input_.name, "is no graph: {}", no_pairs(array));
        raw_.data_bytes = array.bytes();
        raw_.format = by_column ? "npy/edge_index" : "npy/edges";
        finish_pairs(pairs(std::move(array), by_column == 1), {}, {});
        return std::move(raw_);
    }

private:
    NpyArray open(std::string_view key) {
        NpyArray array(archive_, key, input_.limits);
        raw_.data_bytes += array.bytes();
        return array;
    }

    std::optional<Shape> read_shape(const std::string& key) {
        if (!archive_.has(key)) return std::nullopt;
        NpyArray array = open(key);
        if (array.count() != 2) fail(array.where(), "has {} elements, expected 'rows, columns'", array.count());
        const auto values = array.read_int64();
        if (values[0] < 0 || values[1] < 0)
            fail(array.where(), "is {} x {}: sizes must not be negative", values[0], values[1]);
        require_counts(values[0], values[1], 0, input_.name);
        return Shape{values[0], values[1]};
    }

    void remark(const std::string& words) {
        raw_.fix_ups.remarks += (raw_.fix_ups.remarks.empty() ? "" : ", ") + words;
    }

    /// Weights of m entries, from `data`, or else `edge_weight` or `edge_attr`. Empty where there are none, where they
    /// are not wanted, or all are 1 as scipy and PyG write for an unweighted graph.
    HostVector<float> read_weights(const std::string& data, std::int64_t m) {
        std::string chosen;
        for (const std::string& key : {data, std::string("edge_weight"), std::string("edge_attr")}) {
            if (key.empty() || key == chosen || !archive_.has(key)) continue;
            if (!chosen.empty()) {
                remark("left out " + key + " beside " + chosen);
            } else if (holds_weights(key, m)) {
                chosen = key;
            }
        }
        if (!options_.ignore_weights) name_unread(data, m);
        if (chosen.empty()) return {};
        if (options_.ignore_weights) {
            raw_.fix_ups.ignored_weights = m;
            return {};
        }
        if (chosen == "edge_attr") remark("took edge_attr as weights");
        NpyArray values = open(chosen);
        HostVector<float> weights = values.read_float();
        values.loss().tell(raw_.fix_ups);
        if (!std::all_of(weights.begin(), weights.end(), [](float w) { return w == 1.0f; })) return weights;
        raw_.fix_ups.dropped_unit_weights = m;
        return {};
    }

    /// Whether the array has a number for each of m entries. What cannot be used is said; of an array that must be
    /// weights by its name it is an error, unless weights are ignored.
    bool holds_weights(const std::string& key, std::int64_t m) {
        const NpyArray array(archive_, key, input_.limits);
        const auto& shape = array.shape();
        const std::uint64_t rows = shape.empty() ? 1 : shape[0];
        const bool attribute = key == "edge_attr" || options_.ignore_weights;
        if (rows == static_cast<std::uint64_t>(m) && array.count() != rows) {
            remark(fmt::format("left out {} of {} columns", key, array.count() / rows));
            return false;
        }
        if (array.count() != static_cast<std::uint64_t>(m)) {
            if (!attribute) array.require_values(static_cast<std::uint64_t>(m));
            remark(fmt::format("left out {} of {} values for {} entries", key, array.count(), m));
            return false;
        }
        if (key == "edge_attr" && !options_.ignore_weights && !array.no_numbers().empty()) {
            remark("left out edge_attr, which holds no numbers that are read");
            return false;
        }
        return true;
    }

    /// Names what has a number for each edge under a name that is not read: it may be meant as weights. `data`: as in
    /// read_weights.
    void name_unread(const std::string& data, std::int64_t m) {
        // Read already, or of vertices by their names.
        const auto is_known = [&](std::string_view key) {
            for (const std::string_view known :
                 {"edge_index", "edges", "edge_weight", "edge_attr", "src", "dst", "src_li", "dst_li", "num_nodes",
                  "node_labels", "node_features", "x", "labels", "features", "y"}) {
                if (key == known) return true;
            }
            const std::string prefix =
                data.empty() ? "" : data.substr(0, data.size() - std::string_view("data").size());
            for (const char* known : {"indptr", "indices", "row", "col", "data", "shape", "format"}) {
                if (!data.empty() && key == prefix + known) return true;
            }
            return false;
        };
        const auto sounds_like_weights = [](std::string_view key) {
            return key.starts_with("edge") || key.find("weight") != key.npos || key == "w" || key == "values" ||
                   key == "data" || key == "attr";
        };
        std::string names;
        std::size_t count = 0;
        for (const std::string& key : archive_.names()) {
            if (is_known(key)) continue;
            try {
                const NpyArray array(archive_, key, input_.limits);
                if (array.shape().empty() || array.shape()[0] != static_cast<std::uint64_t>(m) || m == 0) continue;
                const bool real_vector = array.count() == array.shape()[0] && array.real_numbers();
                if (!real_vector && (!sounds_like_weights(key) || !array.no_numbers().empty())) continue;
            } catch (const Error&) {
                continue;  // nothing that is read: what is wrong with it is no matter
            }
            // graph_again.cpp reads remarks between brackets, parted by commas.
            std::string shown = printable(key, 30);
            std::replace_if(
                shown.begin(), shown.end(), [](char c) { return c == ',' || c == '(' || c == ')'; }, '?');
            if (++count <= 5) names += (names.empty() ? "" : " and ") + shown;
        }
        if (count == 0) return;
        if (count > 5) names += fmt::format(" and {} more", count - 5);
        remark(fmt::format("left out {} with a value for each edge: weights are read from {}edge_weight or edge_attr",
                           names, data.empty() ? "" : data + " or "));
    }

    HostVector<std::int32_t> read_ids(const std::string& key) {
        NpyArray array = open(key);
        array.require_vector();
        require_counts(0, 0, static_cast<std::int64_t>(std::min<std::uint64_t>(array.count(), 1ull << 62)),
                       input_.name);
        return array.read_int32();
    }

    void read_compressed(const std::string& prefix) {
        std::string layout = "csr";
        if (archive_.has(prefix + "format")) layout = open(prefix + "format").read_text();
        if (layout != "csr" && layout != "csc") {
            fail(input_.name, "holds a scipy matrix of format '{}'; save it with .tocsr() or .tocoo()",
                 printable(layout));
        }
        const bool by_column = layout == "csc";
        auto shape = read_shape(prefix + "shape");
        CsrGraph g;
        g.row_ptr = read_ids(prefix + "indptr");
        g.col_idx = read_ids(prefix + "indices");
        const auto n = static_cast<std::int64_t>(g.row_ptr.size()) - 1;
        const std::string where = input_.name + " member " + prefix + "indptr.npy";
        if (n < 0) fail(where, "is empty, expected one offset more than there are {}", by_column ? "columns" : "rows");
        if (!shape) shape = Shape{n, n};
        if (n != (by_column ? shape->n_cols : shape->n_rows)) {
            fail(where, "has {} offsets, but the shape {} x {} asks for {}", n + 1, shape->n_rows, shape->n_cols,
                 (by_column ? shape->n_cols : shape->n_rows) + 1);
        }
        require_counts(shape->n_rows, shape->n_cols, g.m(), input_.name);
        g.n_rows = static_cast<std::int32_t>(by_column ? shape->n_cols : shape->n_rows);
        g.n_cols = static_cast<std::int32_t>(by_column ? shape->n_rows : shape->n_cols);
        input_.limits.require_columns(g.n_cols, raw_.data_bytes, input_.name);
        check_csr(g, input_.name, prefix + "indptr", prefix + "indices");
        g.edge_weight = read_weights(prefix + "data", g.m());
        if (by_column) {
            g = reverse(g.view());
        } else {
            sort_columns(g);
        }
        raw_.graph = std::move(g);
        raw_.format = prefix.empty() ? "npz/scipy-" + layout : "npz/pyg";
    }

    void read_coordinates(const std::string& prefix) {
        const auto shape = read_shape(prefix + "shape");
        EdgeSink edges;
        edges.rows = read_ids(prefix + "row");
        edges.cols = read_ids(prefix + "col");
        if (edges.rows.size() != edges.cols.size()) {
            fail(input_.name, "has {} elements in {}row, but {} in {}col", edges.rows.size(), prefix, edges.cols.size(),
                 prefix);
        }
        edges.weights = read_weights(prefix + "data", static_cast<std::int64_t>(edges.rows.size()));
        raw_.format = prefix.empty() ? "npz/scipy-coo" : "npz/pyg";
        finish(std::move(edges), shape, prefix + "row", prefix + "col");
    }

    /// [m, 2] or [2, m] with the source first.
    void read_pairs(bool two_rows) {
        const std::string key = two_rows ? "edge_index" : "edges";
        NpyArray array = open(key);
        const auto& shape = array.shape();
        if (shape.size() != 2 || shape[two_rows ? 0 : 1] != 2) {
            fail(array.where(), "must have the shape {}, one edge per {}", two_rows ? "[2, m]" : "[m, 2]",
                 two_rows ? "column" : "row");
        }
        EdgeSink edges = pairs(std::move(array), two_rows);
        edges.weights = read_weights("", static_cast<std::int64_t>(edges.rows.size()));
        raw_.format = "npz/" + key;
        finish_pairs(std::move(edges), key, key);
    }

    EdgeSink pairs(NpyArray&& array, bool two_rows) {
        const std::uint64_t m = array.count() / 2;
        require_counts(0, 0, static_cast<std::int64_t>(m), input_.name);
        // Sources lie together, or each beside its target.
        const bool apart = two_rows != array.fortran();
        const auto both = array.read_int32();
        EdgeSink edges;
        input_.limits.require(m * 16, input_.name, "the edges");
        edges.rows.resize(static_cast<std::size_t>(m));
        edges.cols.resize(static_cast<std::size_t>(m));
        for (std::size_t e = 0; e < m; ++e) {
            edges.cols[e] = both[apart ? e : 2 * e];
            edges.rows[e] = both[apart ? m + e : 2 * e + 1];
        }
        return edges;
    }

    void read_lists(const std::string& suffix) {
        const std::string src = "src" + suffix;
        const std::string dst = "dst" + suffix;
        EdgeSink edges;
        edges.cols = read_ids(src);
        edges.rows = read_ids(dst);
        if (edges.rows.size() != edges.cols.size()) {
            fail(input_.name, "has {} elements in {}, but {} in {}", edges.cols.size(), src, edges.rows.size(), dst);
        }
        edges.weights = read_weights("", static_cast<std::int64_t>(edges.rows.size()));
        raw_.format = "npz/src-dst";
        finish_pairs(std::move(edges), dst, src);
    }

    /// Rows of an array of which nothing but its shape counts; -1 where it is not there.
    std::int64_t rows_of(std::string_view key) {
        if (!archive_.has(key)) return -1;
        const NpyArray array(archive_, key, input_.limits);
        if (array.shape().empty()) return -1;
        raw_.data_bytes += array.packed_bytes();
        return static_cast<std::int64_t>(std::min<std::uint64_t>(array.shape()[0], 1ull << 62));
    }

    /// Number of vertices as the archive states it: num_nodes, or the rows of what belongs to vertices by its name.
    /// `labels`, `features` and `y` may belong to edges or to the whole graph: they count where all ids fit and there
    /// is not one for each edge.
    std::int64_t stated_vertices(std::int64_t id_bound, std::int64_t m) {
        if (archive_.has("num_nodes")) {
            NpyArray array(archive_, "num_nodes", input_.limits);
            if (array.count() != 1) fail(array.where(), "has {} elements, expected one number", array.count());
            const std::int64_t n = array.read_int64()[0];
            if (n < 0) fail(array.where(), "is {}: there cannot be fewer than 0 vertices", n);
            return n;
        }
        for (const std::string_view key : {"node_labels", "node_features", "x"}) {
            if (const std::int64_t n = rows_of(key); n >= 0) return n;
        }
        for (const std::string_view key : {"labels", "features", "y"}) {
            if (const std::int64_t n = rows_of(key); n >= id_bound && n != m) return n;
        }
        return id_bound;
    }

    void finish_pairs(EdgeSink&& edges, std::string_view row_key, std::string_view col_key) {
        std::int64_t n = 0;
        if (options_.vertices) {
            n = *options_.vertices;
            raw_.fix_ups.vertices = n;
        } else {
            std::int32_t largest = -1;
            for (const auto* ids : {&edges.rows, &edges.cols}) {
                for (const std::int32_t id : *ids) largest = std::max(largest, id);
            }
            n = stated_vertices(largest + std::int64_t{1}, static_cast<std::int64_t>(edges.rows.size()));
        }
        require_counts(n, n, 0, input_.name);
        finish(std::move(edges), Shape{n, n}, row_key, col_key);
    }

    /// Checks ids against the sizes (or takes the sizes from the ids) and builds the CSR.
    void finish(EdgeSink&& edges, std::optional<Shape> shape, std::string_view row_key, std::string_view col_key) {
        edges.size = edges.rows.size();
        edges.weighted = !edges.weights.empty();
        std::int64_t row_bound = 0;
        std::int64_t col_bound = 0;
        for (std::size_t e = 0; e < edges.size; ++e) {
            row_bound = std::max<std::int64_t>(row_bound, edges.rows[e] + std::int64_t{1});
            col_bound = std::max<std::int64_t>(col_bound, edges.cols[e] + std::int64_t{1});
            if (e == 0 || !edges.sorted) continue;
            edges.sorted = edges.rows[e] > edges.rows[e - 1] ||
                           (edges.rows[e] == edges.rows[e - 1] && edges.cols[e] >= edges.cols[e - 1]);
        }
        if (!shape) shape = Shape{std::max(row_bound, col_bound), std::max(row_bound, col_bound)};
        const auto check = [&](std::int64_t bound, std::int64_t n, std::string_view key) {
            if (bound <= n) return;
            fail(key.empty() ? input_.name : input_.name + " member " + std::string(key) + ".npy",
                 "holds id {}, outside 0..{}, of a {} x {} matrix", bound - 1, n - 1, shape->n_rows, shape->n_cols);
        };
        check(row_bound, shape->n_rows, row_key);
        check(col_bound, shape->n_cols, col_key);
        raw_.graph = to_csr(std::move(edges), shape->n_rows, shape->n_cols, raw_.data_bytes, input_);
    }

    const NpzArchive& archive_;
    const Input& input_;
    const ReadOptions& options_;
    RawGraph raw_;
};

}  // namespace

Sniffed sniff_npz(const RandomBytes& bytes, const std::string& name, const Limits& limits) {
    try {
        if (is_single_array(bytes)) {
            const NpyArray array(open_slice(bytes, 0, bytes.size()), bytes.size(), name, limits);
            if (pairs_by_shape(array.shape()) >= 0 && array.whole_numbers()) return {Format::npz, ""};
            return {std::nullopt, no_pairs(array)};
        }
        const NpzArchive archive(bytes, name);
        if (find_layout(archive)) return {Format::npz, ""};
        return {std::nullopt, no_graph(archive)};
    } catch (const Error& error) {
        const std::string words = error.what();
        return {std::nullopt, words.starts_with(name + ": ") ? words.substr(name.size() + 2) : words};
    }
}

RawGraph read_npz(const Input& input, const ReadOptions& options) {
    if (is_single_array(input.bytes)) {
        const NpzArchive none(input.name);
        return Reader(none, input, options)
            .read(
                NpyArray(open_slice(input.bytes, 0, input.bytes.size()), input.bytes.size(), input.name, input.limits));
    }
    const NpzArchive archive(input.bytes, input.name);
    const auto found = find_layout(archive);
    if (!found) throw input_error(input.name + ": is no graph: " + no_graph(archive));
    return Reader(archive, input, options).read(*found);
}

}  // namespace gnntune::io::detail
