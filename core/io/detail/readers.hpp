// The readers of the formats, over bytes: what read_graph dispatches to, and what the fuzzers call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/types.hpp"
#include "core/io/detail/bytes.hpp"
#include "core/io/detail/limits.hpp"
#include "core/io/detail/weights.hpp"
#include "core/io/graph_io.hpp"

namespace gnntune::io::detail {

/// One file as a reader sees it, compressed or not.
struct Input {
    const RandomBytes& bytes;
    std::string name;  ///< for messages
    Limits limits;
};

/// What a reader found, before ReadOptions' fix-ups. Columns ascend within rows.
struct RawGraph {
    CsrGraph graph;
    std::string format;
    FixUps fix_ups;
    std::vector<std::string> warnings;
    std::vector<std::int64_t> original_ids;
    std::uint64_t data_bytes = 0;  ///< bytes of content that were read
};

RawGraph read_mtx(const Input& input, const ReadOptions& options);
RawGraph read_edge_list(const Input& input, const ReadOptions& options);
RawGraph read_metis(const Input& input, const ReadOptions& options);
RawGraph read_npz(const Input& input, const ReadOptions& options);
RawGraph read_gnng(const Input& input, const ReadOptions& options);
/// `indicator` is <DS>_graph_indicator.txt, whose lines are the vertices; without it the largest id counts them.
RawGraph read_tu(const Input& pairs, const Input* indicator, const ReadOptions& options);

/// Edges as they are parsed. Columns of memory that grow with what was read, never ahead of it.
struct EdgeSink {
    HostVector<std::int32_t> rows;
    HostVector<std::int32_t> cols;
    HostVector<float> weights;  ///< used where weighted
    std::size_t size = 0;
    bool weighted = false;
    WeightLoss loss;
    bool sorted = true;  ///< by (row, column), as far as read

    /// Makes room for `extra` more entries at rows.data() + size and so on.
    void ensure(std::size_t extra, const Limits& limits, const std::string& name);
};

/// CSR of the parsed edges, columns ascending. A sorted list is taken over without moving an edge.
CsrGraph to_csr(EdgeSink&& edges, std::int64_t n_rows, std::int64_t n_cols, std::uint64_t data_bytes,
                const Input& input);

/// Applies the options' reverse, ignore_weights, remove_self_loops, merge_duplicates and make_symmetric, in this order.
void apply_fix_ups(RawGraph& raw, const ReadOptions& options, const Input& input);

/// Throws ErrorKind::unsupported where a count exceeds what the int32 formats hold.
void require_counts(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m, const std::string& name);

/// Throws ErrorKind::input where row_ptr or col_idx break CSR's rules; the names are those of the file's own arrays.
void check_csr(const CsrGraph& graph, const std::string& name, std::string_view ptr_name, std::string_view idx_name);

/// The format of a file's content by its first bytes; `name` breaks ties. `whole`: `head` is all there is.
/// `any_weight`: a third column may be words.
Sniffed sniff_head(std::string_view head, bool whole, const std::string& name, bool any_weight);
Sniffed sniff_bytes(const RandomBytes& bytes, const std::string& name, const Limits& limits, bool any_weight);
/// What a PyTorch file of that name is, with the line of Python that saves its graph as .npz.
std::string torch_advice(const std::string& name);
/// Whether these may be the digits `fmt` of METIS's header.
inline bool is_metis_fmt(std::uint64_t digits) {
    return digits % 10 <= 1 && digits / 10 % 10 <= 1 && digits <= 111;
}
/// Why the lines above a text's numbers are nearly Matrix Market's banner; empty where they are not.
std::string nearly_banner(std::string_view head);
/// Whether an archive holds a graph, by the names of its members.
Sniffed sniff_npz(const RandomBytes& bytes, const std::string& name, const Limits& limits);

/// The name in lower case without .gz and .xz.
std::string plain_name(const std::filesystem::path& path);

/// The two files of a TU folder; `pairs` is empty where `folder` is none.
struct TuFolder {
    std::filesystem::path pairs;
    std::filesystem::path indicator;
    std::string name;
    std::string unread;  ///< what has a value for each edge: "edge_attributes and edge_labels"
};
TuFolder find_tu(const std::filesystem::path& folder);

}  // namespace gnntune::io::detail
