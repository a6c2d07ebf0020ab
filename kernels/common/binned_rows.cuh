// Which edges a team of kernels/common/binned_rows.hpp has.
#pragma once

#include <cstdint>

#include "kernels/common/binned_rows.hpp"

namespace gnntune::kernels {

/// Edges [begin, end) of `row` that a team of `team` threads sums; slot -1: they are the whole row. `leads`: no other
/// team has edges of the row before them, so that a term which the row has besides its edges is this team's. A negative
/// row: nothing to do.
struct RowTask {
    std::uint32_t begin = 0;  // unsigned: the last step of a row that ends near 2^31 must not wrap around
    std::uint32_t end = 0;
    std::int32_t row = -1;
    std::int32_t slot = -1;
    bool leads = true;
    int team = 0;
};

/// The block's, of a grid that has the blocks of `r` and no others.
__device__ __forceinline__ RowTask row_task(const BinnedRowsView& r) {
    RowTask t;
    t.team = static_cast<int>(blockDim.x);
    if (blockIdx.x < r.n_pieces) {
        const RowPiece piece = r.pieces[blockIdx.x];
        t.begin = static_cast<std::uint32_t>(piece.begin);
        t.end = static_cast<std::uint32_t>(piece.end);
        t.row = piece.row;
        t.slot = piece.slot;
        t.leads = piece.slot <= piece.first_slot;
        return t;
    }
    int b = r.n_bins - 1;  // light rows are many
    while (b > 0 && blockIdx.x < r.bins[b].first_block) --b;
    const Bin& bin = r.bins[b];
    t.team = 1 << bin.shift;
    const std::int64_t at =
        std::int64_t{blockIdx.x - bin.first_block} * (blockDim.x >> bin.shift) + (threadIdx.x >> bin.shift);
    if (at < bin.n_rows) {
        const auto place = static_cast<std::int32_t>(bin.first_row + at);
        t.row = r.order ? __ldg(r.order + place) : place;
        t.begin = static_cast<std::uint32_t>(__ldg(r.row_ptr + t.row));
        t.end = static_cast<std::uint32_t>(__ldg(r.row_ptr + t.row + 1));
    }
    return t;
}

}  // namespace gnntune::kernels
