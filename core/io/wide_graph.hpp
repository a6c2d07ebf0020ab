// Graphs whose edges need not be counted by 32 bits: files that read_graph refuses for the number of their entries, as rows
// whose offsets are of 64 bits. What is done with such a graph goes by tiles of rows (core/graph/row_tiles.hpp).
//
// .gnng and .npz of scipy's CSR hold any number of entries. The other formats are lists that would have to be sorted: they
// are read as read_graph does, up to 2^31 - 1 entries, and refused beyond with the two that hold more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/common/host_vector.hpp"
#include "core/graph/row_tiles.hpp"
#include "core/io/graph_io.hpp"

namespace gnntune::io {

/// Owning. `edge_weight` is empty for an unweighted graph.
struct WideCsrGraph {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    HostVector<std::int64_t> row_ptr;
    HostVector<std::int32_t> col_idx;
    HostVector<float> edge_weight;

    std::int64_t m() const { return static_cast<std::int64_t>(col_idx.size()); }
    WideCsrView view() const { return {n_rows, n_cols, m(), row_ptr.data(), true, col_idx.data(), false}; }
};

/// Reads one graph of any number of entries. Of .gnng and .npz with CSR, columns stand as the file has them; of the
/// options, ignore_weights and memory_limit_bytes count there; with one that changes the graph it is read as by read_graph.
/// Errors as read_graph, and of an .npz with CSR also `data` of another length where weights are ignored;
/// ErrorKind::unsupported for more than 2^31 - 2 rows or columns, and for other formats of too many entries.
WideCsrGraph read_wide_graph(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from bytes in memory; `name` stands in messages, and its suffix is used as a file's would be.
WideCsrGraph read_wide_graph_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options = {});

/// Writes .gnng with offsets of 64 bits, which read_graph reads too where it holds the entries. The file appears under its
/// name when it is complete.
void write_wide_graph(const std::filesystem::path& path, const WideCsrGraph& graph);

}  // namespace gnntune::io
