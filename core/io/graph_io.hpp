// Reading and writing graphs: Matrix Market, edge lists, NumPy .npz, TU data sets, METIS and the project's own .gnng.
//
// The format is recognised from the content; gzip and xz are undone on the way. A name's suffix is evidence: .graph and
// .metis mean METIS where every line has two or three numbers, _A.txt marks a TU file, and a text whose name ends in
// .mtx, .npz, .gnng, .graph or .metis and that is not such a file is an error. So is what nearly is a graph of a
// format: a Matrix Market banner with a slip of the pen, a line of counts above an edge list, an adjacency list.
// ReadOptions::format says what such a file is.
//
// Direction. A is n_rows targets x n_cols sources. Matrix Market, scipy and PyG `adj_*` arrays, METIS and .gnng give A
// as written: entry (i, j) is row i, column j. An edge list `u v`, TU pairs, `edges` [m, 2], `edge_index` [2, m] and
// src_li/dst_li mean u -> v: row v, column u. ReadOptions::reverse swaps both kinds.
//
// Errors. Whatever the bytes, reading ends in a graph or in gnntune::Error: ErrorKind::input for a file that cannot be
// used, ErrorKind::unsupported for one over 2^31-2 vertices or 2^31-1 edges, ErrorKind::out_of_memory where an
// allocation failed. The message is one sentence with the file, the line or archive member, what was expected and what
// to do.
//
// All functions are thread-safe: they share no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/types.hpp"

namespace gnntune::io {

enum class Format { matrix_market, edge_list, npz, tu, metis, gnng };

/// The format's word on the command line and in messages: mtx, edges, npz, tu, metis, gnng.
std::string_view format_name(Format format);
/// The inverse of format_name; nullopt for any other word.
std::optional<Format> parse_format(std::string_view word);
/// The format that a file of this name should be written in (.mtx, .txt .el .edges .tsv .csv, .npz, .graph .metis,
/// .gnng, each with an optional .gz); nullopt where the name does not say. Never opens the file.
std::optional<Format> format_of_name(const std::filesystem::path& path);
/// What a graph that is read from there is called: the file's name without folders, .gz, .xz and the format's suffix,
/// and _ for control characters.
std::string graph_name(const std::filesystem::path& path);

struct ReadOptions {
    bool reverse = false;            ///< swap rows and columns of A, before anything below
    bool ignore_weights = false;     ///< give an unweighted graph whatever stands where weights are
    bool remove_self_loops = false;  ///< drop entries (i, i); a matrix that is not square has no self loops
    bool merge_duplicates = false;   ///< one entry for each (row, column); weights add up, unweighted edges count once
    bool make_symmetric = false;  ///< add (j, i) with the same weight where (i, j) lacks it; the matrix must be square

    std::optional<Format> format;  ///< take this format instead of looking at the content

    /// Edge lists and TU: ids start at 0 or 1. Unset: 1 for TU, and for an edge list whose smallest id is 1 (with a
    /// comment `# Nodes: N` that fits: whose largest is N and smallest not 0); else 0. Ids stay as they are: one that
    /// no edge names is a vertex without edges.
    std::optional<int> base;
    /// Edge lists: number the ids that occur from 0, ascending (LoadedGraph::original_ids). Goes with neither `base`
    /// nor `vertices`.
    bool relabel = false;
    /// Edge lists, TU without its indicator, and arrays of pairs: the number of vertices. Unset: what the file says,
    /// else the largest id and those below it.
    std::optional<std::int64_t> vertices;

    /// Largest size in bytes of the arrays built from one file. 0, the default, means three quarters of the physical
    /// memory, and then two more rules keep a small file from claiming much: four bytes for each row, and for each
    /// column, may take 256 MiB, or 64 times the bytes that were read where that is more; and what is compressed,
    /// arrays of an .npz too, may unpack to 256 MiB, or to 256 times its compressed size where that is more. Text is
    /// parsed as it is unpacked and never held; what comes through a pipe is held, and counts. An explicit limit
    /// replaces the first of the two. Nothing is allocated on the word of a header: edge arrays grow with the entries
    /// that were read.
    std::uint64_t memory_limit_bytes = 0;
};

/// What was changed between the file and the graph. All counts are of stored entries, but for relabelled_ids.
struct FixUps {
    std::int64_t removed_self_loops = 0;
    std::int64_t merged_duplicates = 0;  ///< entries that went into another one
    std::int64_t added_reverse_edges = 0;
    std::int64_t relabelled_ids = 0;       ///< vertices, where ids were renumbered
    std::optional<int> first_id;           ///< where ids start, if it was given, or is 1 in an edge list or 0 in TU
    std::int64_t unused_ids = 0;           ///< of an edge list, where most ids are of vertices without edges
    std::optional<std::int64_t> vertices;  ///< ReadOptions::vertices, where it was used
    std::int64_t mirrored_entries = 0;  ///< entries of a (skew-)symmetric Matrix Market file written once, stored twice
    std::int64_t dropped_unit_weights = 0;  ///< an .npz whose data are all 1 is an unweighted graph
    std::int64_t ignored_weights = 0;       ///< by ReadOptions::ignore_weights
    std::int64_t rounded_weights = 0;   ///< whole numbers beyond 2^24 that float32 does not hold, nearest ones instead
    std::int64_t vanished_weights = 0;  ///< numbers so small that they are 0 in float32
    std::int64_t skipped_header_lines = 0;  ///< a line of column names before an edge list
    std::string remarks;                    ///< what else a reader took or left out: "left out edge_attr of 3 columns"

    /// "removed 12 self loops, merged 3 duplicates"; empty where nothing was changed.
    std::string text() const;
};

struct LoadedGraph {
    CsrGraph graph;      ///< columns ascending within each row; edge_weight empty where the graph is unweighted
    std::string name;    ///< the file's name without .gz, .xz and the format's suffix; of a TU set, the set's name
    std::string format;  ///< format_name, for npz with its layout: "npz/scipy-csr", "npz/pyg", "npz/edges"
    std::string source;  ///< the path as it was given
    FixUps fix_ups;
    /// What contradicts itself in the file, a sentence each: a comment that counts other edges than there are.
    std::vector<std::string> warnings;
    /// What options asked for that this graph has no use for, a sentence each: a base of a Matrix Market file. The
    /// graph was read without it.
    std::vector<std::string> not_applied;
    /// [n] or empty. Where ids were renumbered: original_ids[new id] = id in the file, ascending.
    std::vector<std::int64_t> original_ids;
};

/// Reads one graph. `path` is a file, a TU folder (<DS>_A.txt beside <DS>_graph_indicator.txt), or a folder that holds
/// exactly one graph.
LoadedGraph read_graph(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from bytes in memory; `name` stands in messages, and its suffix is used as a file's would be.
LoadedGraph read_graph_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options = {});

/// The format, or in one line why this is no graph ("an archive that holds labels, train_mask; expected ...").
struct Sniffed {
    std::optional<Format> format;
    std::string reason;
    bool near_miss = false;  ///< by its name or its first lines it was meant to be a graph
};

/// Looks at the first 64 KiB (of an .npz: at its directory); of the options, ignore_weights counts. Throws
/// ErrorKind::input only where the file cannot be read at all.
Sniffed sniff_format(const std::filesystem::path& path, const ReadOptions& options = {});

struct FoundGraph {
    std::filesystem::path path;  ///< what read_graph takes: a file, or a TU folder
    Format format = Format::matrix_market;
    std::string name;  ///< as LoadedGraph::name
};

struct SkippedFile {
    std::filesystem::path path;
    std::string reason;    ///< one line
    bool damaged = false;  ///< it could not be read, so nobody knows what it is, or it was meant to be a graph
};

struct FolderScan {
    std::vector<FoundGraph> graphs;    ///< by path
    std::vector<SkippedFile> skipped;  ///< by path; hidden files and the members of a TU folder are not listed
};

/// Looks for graphs in `folder` and in folders up to `depth` levels below it (0: the folder alone); does not follow
/// links to folders. Throws ErrorKind::input where `folder` is no readable folder.
FolderScan find_graphs(const std::filesystem::path& folder, int depth = 2, const ReadOptions& options = {});

/// Writes a host graph so that read_graph gives the same graph back (float weights bit for bit). The file appears under
/// its name only when complete. A name that ends in .gz is compressed; `-` is standard output. Formats:
///   matrix_market  general, pattern or real
///   edge_list      `source target [weight]`, 0-based, after a comment with the number of vertices; square graphs only
///   npz            scipy CSR, members stored; an unweighted graph has data of ones, as scipy requires
///   metis          symmetric graphs without self loops and duplicates; weights must be positive whole numbers
///   gnng           see core/io/gnng.hpp
/// Throws ErrorKind::unsupported where the format cannot hold the graph (and for tu), ErrorKind::input where the file
/// cannot be written, ErrorKind::invalid_argument for a view of device memory.
void write_graph(const std::filesystem::path& path, const CsrView& graph, Format format);
void write_graph(const std::filesystem::path& path, const CsrGraph& graph, Format format);

}  // namespace gnntune::io
