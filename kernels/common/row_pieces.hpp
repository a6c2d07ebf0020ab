// Long rows cut into pieces, so that a row of any length is the work of many blocks. Built once per plan; without
// atomics in the kernels that use it, so that sums keep a fixed order.
//
// A kernel gives rows of up to `long_row` edges to small teams of threads, and each piece to a block. A long row that
// is one piece has slot -1: its block writes the row's result itself. The pieces of a split row have consecutive slots
// in the workspace, and a second kernel merges them (kernels/common/attention.cuh, kernels/common/merge_rows.cuh).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/graph.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/attention.hpp"

namespace gnntune::kernels {

/// Edges [begin, end) of `row`, positions in the CSR.
struct RowPiece {
    std::int32_t row;
    std::int32_t begin;
    std::int32_t end;
    std::int32_t slot;        ///< where its partial result goes; -1: it is the whole row
    std::int32_t first_slot;  ///< of the row
    std::int32_t count;       ///< pieces of the row
};

struct SplitRow {
    std::int32_t row;
    std::int32_t first_slot;
    std::int32_t count;
};

struct RowPieces {
    std::int32_t long_row = 0;     ///< rows of more edges than this are in `pieces`
    std::int32_t slots = 0;        ///< partial results
    std::int32_t most_pieces = 0;  ///< of a row; 0: nobody counted
    DeviceBuffer<RowPiece> pieces;
    DeviceBuffer<SplitRow> split;  ///< rows of more than one piece
};

/// A row of many edges, on the host: edges [begin, end), positions in the CSR.
struct LongRow {
    std::int32_t row;
    std::int32_t begin;
    std::int32_t end;
};

/// Pieces of those among `rows` that have more than `long_row` edges, copied to the device. Pieces of a row have equal
/// length, but that the last may be shorter: it is as slow as its longest.
inline RowPieces cut_rows(const std::vector<LongRow>& rows, std::int32_t long_row, std::int32_t piece_edges) {
    RowPieces out;
    out.long_row = long_row;
    std::vector<RowPiece> pieces;
    std::vector<SplitRow> split;
    for (const LongRow& r : rows) {
        if (r.end - r.begin <= long_row) continue;
        const std::int32_t count = (r.end - r.begin - 1) / piece_edges + 1;
        const std::int32_t length = (r.end - r.begin - 1) / count + 1;
        const std::int32_t first = count > 1 ? out.slots : -1;
        for (std::int32_t p = 0; p < count; ++p) {
            const std::int32_t from = r.begin + p * length;
            const std::int32_t to = r.end - from > length ? from + length : r.end;
            pieces.push_back({r.row, from, to, count > 1 ? first + p : -1, first, count});
        }
        if (count == 1) continue;
        split.push_back({r.row, first, count});
        out.slots += count;
    }
    out.pieces = to_device(pieces.data(), pieces.size());
    out.split = to_device(split.data(), split.size());
    return out;
}

/// Of rows of more than `long_row` edges. Reads the row offsets back to the host: synchronises `stream`.
inline RowPieces build_row_pieces(const CsrFormat& csr, StreamHandle stream, std::int32_t long_row = kLongRow) {
    std::vector<LongRow> rows;
    if (csr.m > long_row) {
        const auto ptr =
            to_host(csr.row_ptr, static_cast<std::size_t>(csr.n_rows) + 1, static_cast<cudaStream_t>(stream));
        for (std::int32_t row = 0; row < csr.n_rows; ++row) {
            const std::int32_t begin = ptr[static_cast<std::size_t>(row)];
            const std::int32_t end = ptr[static_cast<std::size_t>(row) + 1];
            if (end - begin > long_row) rows.push_back({row, begin, end});
        }
    }
    return cut_rows(rows, long_row, kPieceEdges);
}

/// The same; none for a graph that is built in stream order: a long row is one team's work then, which costs speed, not
/// answers. Only for kernels whose teams take rows of any length.
inline RowPieces build_row_pieces(const Graph& graph, const CsrFormat& csr, StreamHandle stream,
                                  std::int32_t long_row = kLongRow) {
    if (!graph.in_stream_order()) return build_row_pieces(csr, stream, long_row);
    RowPieces none;
    none.long_row = std::numeric_limits<std::int32_t>::max();
    return none;
}

}  // namespace gnntune::kernels
