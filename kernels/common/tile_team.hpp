// Params of the kernels in which a team of threads owns a row and a head and keeps a tile of its features in registers
// (kernels/common/feature_tile.cuh): lanes hold the tile, groups of lanes share the row's edges.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/registry/param_fields.hpp"
#include "kernels/common/attention.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {

/// Vectors per lane and edge. One vector lost: kernels/attention/rows/README.md.
inline const std::vector<int> kTileItems{2, 4};
/// Calls f(std::integral_constant<int, ITEMS>{}) for one of them.
template <typename F>
void with_tile_items(int items, const F& f) {
    if (items == 4) return f(std::integral_constant<int, 4>{});
    f(std::integral_constant<int, 2>{});
}

/// Teams have 4 to 32 threads. `lanes`, `split` and `items` are those of a params struct.
inline Verdict require_tile_team(const Query& q, int lanes, int split, int items) {
    if (lanes * split > 32 || lanes * split < 4) {
        return Verdict::no("a row is shared by 4 to 32 threads: lanes * split = " + std::to_string(lanes * split));
    }
    if (lanes >= 4 && split > 4) return Verdict::no("rows are split into more than 4 groups for narrow tiles only");
    return require_useful_tile(q.problem.k, lanes, items, widest_vector(q.problem), kTileItems.front());
}

/// Blocks along x of a kernel with teams of `team` threads for rows, and one block for every piece of a long row and
/// head.
inline Verdict require_team_grid(const Query& q, int threads, int team) {
    const std::int64_t units = std::max(q.n_rows, q.n_cols) * q.problem.heads;
    // Pieces have at least 256 edges each, but the rest of a row.
    return require_grid(ceil_div(units, threads / team) + (q.m / 256 + 1) * q.problem.heads);
}

/// The same for the passes of kernels/common/attend.cuh and kernels/common/gradient_passes.cuh.
inline Verdict require_pass_grid(const Query& q) {
    return require_team_grid(q, 128, 32);
}

/// `split` groups of `lanes` threads share one row (column) and head, and a tile of lanes * items * (vector width)
/// features.
struct TileTeamParams {
    int lanes = 8;  ///< threads per group
    int split = 1;  ///< groups per row, 4 <= lanes * split <= 32; each takes runs of the edges
    int items = 2;  ///< vectors per lane and edge

    bool operator==(const TileTeamParams&) const = default;
    static const std::vector<ParamField<TileTeamParams>>& fields() {
        static const std::vector<ParamField<TileTeamParams>> kFields{
            {"lanes", &TileTeamParams::lanes, {1, 2, 4, 8, 16, 32}},
            {"split", &TileTeamParams::split, {1, 2, 4, 8}},
            {"items", &TileTeamParams::items, kTileItems},
        };
        return kFields;
    }
    static Verdict legal(const Query& q, const TileTeamParams& p) {
        return require_tile_team(q, p.lanes, p.split, p.items);
    }
    /// Few lanes with many vectors, several edges at a time: the best of each width for agnn.rows on the corpus, in
    /// geometric mean; for agnn_grad.rows_cols 94 % of its fastest config there, 53 % at worst.
    static TileTeamParams defaults(const Query& q) {
        TileTeamParams p;
        const auto vectors = static_cast<std::int32_t>(ceil_div(q.problem.k, widest_vector(q.problem)));
        p.items = std::clamp(next_power_of_two(vectors), kTileItems.front(), kTileItems.back());
        p.lanes = std::min(32, next_power_of_two(static_cast<std::int32_t>(ceil_div(vectors, p.items))));
        p.split = p.lanes == 1 ? 8 : std::clamp(32 / p.lanes, 1, 4);
        return p;
    }
};

/// Tiles that cover a row of features.
inline double feature_tiles(const Query& q, int lanes, int items) {
    return static_cast<double>(ceil_div(q.problem.k, tile_width(lanes, items, widest_vector(q.problem))));
}

}  // namespace gnntune::kernels
