// Rows binned by degree for one launch: a bin's rows get teams of threads of one size, from a group of lanes to a
// block; longer rows are cut into pieces (kernels/common/row_pieces.hpp). Heavy bins come first in the grid. The order
// of the rows is a format (kernels/formats/by_degree); what a shape of teams makes of it is worked out on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/row_pieces.hpp"
#include "kernels/common/rows_by_degree.hpp"

namespace gnntune::kernels {

/// Formats that such plans need.
std::vector<std::string_view> needs_rows_by_degree(const Params&);
std::vector<std::string_view> needs_columns_by_degree(const Params&);
std::vector<std::string_view> needs_both_by_degree(const Params&);

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
    int share;    ///< edges of a group at most, until a row has a whole block; a power of two from 8
    int threads;  ///< of a block, a power of two up to kMaxBinThreads

    /// Rows of more edges are the work of several blocks: 128 edges for a group.
    int piece_edges() const { return threads / lanes * 128; }
    /// Threads of a row of `edges`, as a power of two.
    int team_shift(std::int64_t edges) const;
    /// Most blocks that bin_rows() makes of so many rows and edges: teams have at most twice the threads that their edges
    /// ask for, bins end with a block that is not full, and rows that are cut have more edges than a piece.
    std::int64_t most_blocks(std::int64_t rows, std::int64_t edges) const;
    /// Most rows that are cut.
    std::int64_t most_cut(std::int64_t edges) const { return edges / piece_edges(); }
    /// Adds to `terms` what teams do of rows in those classes, in rounds of `run` edges a group and `tiles` feature
    /// tiles, and the launch that merges pieces.
    void add_cost(const std::vector<DegreeClass>& classes, int run, double tiles, CostTerms& terms) const;
};

struct BinnedRows {
    std::shared_ptr<const RowsByDegree> order;
    std::shared_ptr<const RowPieces> pieces;  ///< never null
    std::vector<Bin> bins;
    unsigned blocks = 0;  ///< of the grid: one for each piece, then those of the bins

    bool has_teams_of_warps() const { return pieces->pieces.size() > 0 || (!bins.empty() && bins.front().shift > 5); }
};

/// Launches nothing; the first shape of its length of pieces copies them to the device.
BinnedRows bin_rows(std::shared_ptr<const RowsByDegree> order, const BinShape& shape);
/// Those of the graph that a plan is made for, its rows or its columns.
BinnedRows bin_rows(const PrepareContext& c, const BinShape& shape);
BinnedRows bin_columns(const PrepareContext& c, const BinShape& shape);

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
