// Rows binned by degree for one launch: a bin's rows get teams of threads of one size, from a group of lanes to a
// block; longer rows are cut into pieces (kernels/common/row_pieces.hpp). Heavy bins come first in the grid. Built once
// per plan.
#pragma once

#include <cstdint>
#include <vector>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/row_pieces.hpp"

namespace gnntune::kernels {

/// Places first_row ... first_row + n_rows - 1 of the rows' order; teams of 2^shift threads.
struct Bin {
    std::int32_t first_row;
    std::int32_t n_rows;
    unsigned first_block;
    int shift;
};

inline constexpr int kMaxBinThreads = 512;
inline constexpr int kMaxBins = 10;  // teams of 1, 2, 4, ... 512 threads

/// What decides a row's team.
struct BinShape {
    int lanes;    ///< threads of a group, a power of two up to 32
    int share;    ///< edges of a group at most, until a row has a whole block; a power of two
    int threads;  ///< of a block, a power of two up to kMaxBinThreads

    /// Rows of more edges are the work of several blocks: 128 edges for a group.
    int piece_edges() const { return threads / lanes * 128; }
    /// Threads of a row of `edges`, as a power of two.
    int team_shift(std::int64_t edges) const;
    /// Adds to `terms` what teams do of rows in those classes, in rounds of `run` edges a group and `tiles` feature
    /// tiles, and the launch that merges pieces.
    void add_cost(const std::vector<DegreeClass>& classes, int run, double tiles, CostTerms& terms) const;
};

struct BinnedRows {
    DeviceBuffer<std::int32_t> order;  ///< [n_rows] rows by bin; empty: row i stands at i
    RowPieces pieces;
    std::vector<Bin> bins;
    unsigned blocks = 0;  ///< of the grid: one for each piece, then those of the bins

    bool has_teams_of_warps() const { return pieces.pieces.size() > 0 || (!bins.empty() && bins.front().shift > 5); }
};

/// One radix sort of a byte a row. Synchronises `stream`.
BinnedRows bin_rows(const CsrFormat& csr, const BinShape& shape, StreamHandle stream);

/// The same as a kernel's argument.
struct BinnedRowsView {
    const std::int32_t* row_ptr;
    const std::int32_t* order;
    const RowPiece* pieces;
    unsigned n_pieces;
    int n_bins;
    Bin bins[kMaxBins];
};
BinnedRowsView view_of(const BinnedRows& rows, const CsrFormat& csr);

}  // namespace gnntune::kernels
