// Params of kernels in which a team of lanes x groups threads owns a row and head (kernels/common/attention.cuh).
#pragma once

#include "core/registry/param_fields.hpp"
#include "kernels/common/attention.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {

/// A team of `team` threads per row and head; `lanes` of them hold a tile of lanes * items * vec features, and the
/// team / lanes groups share the edges.
struct TeamParams {
    int lanes = 8;
    int team = 8;
    int vec = 4;    ///< elements per load
    int items = 1;  ///< loads per lane and edge

    bool operator==(const TeamParams&) const = default;
    static const std::vector<ParamField<TeamParams>>& fields() {
        static const std::vector<ParamField<TeamParams>> kFields{
            {"lanes", &TeamParams::lanes, {1, 2, 4, 8, 16, 32}},
            {"team", &TeamParams::team, {4, 8, 16, 32}},
            {"vec", &TeamParams::vec, {1, 2, 4, 8}},
            {"items", &TeamParams::items, {1, 2}},
        };
        return kFields;
    }

    static constexpr int kThreads = 128;

    static Verdict legal(const Query& q, const TeamParams& p) {
        const std::int32_t k = q.problem.k;
        if (p.vec != widest_vector(q.problem)) {
            return Verdict::no("vec must be the widest that divides k=" + std::to_string(k));
        }
        if (p.lanes > p.team) return Verdict::no("lanes are threads of the team: lanes <= team");
        // Narrower tiles repeat the softmax for every tile.
        if (p.lanes < 32 && tile_width(p.lanes, p.items, p.vec) < k) {
            return Verdict::no("a tile narrower than k=" + std::to_string(k) + " needs lanes=32");
        }
        if (p.items > 1 && tile_width(p.lanes, 1, p.vec) >= k) return Verdict::no("items=1 holds k already");
        if (p.lanes > 1 && tile_width(p.lanes / 2, p.items, p.vec) >= k) {
            return Verdict::no("half the lanes hold k=" + std::to_string(k) + " already");
        }
        // Pieces of long rows come first in the grid: of a row of more than kLongRow edges, at most 2 edges / kLongRow.
        // Gradients run over columns too.
        return require_grid(ceil_div(std::max(q.n_rows, q.n_cols) * q.problem.heads, kThreads / p.team) +
                            (2 * q.m / kLongRow + 1) * q.problem.heads);
    }

    static TeamParams defaults(const Query& q) {
        TeamParams p;
        p.vec = widest_vector(q.problem);
        p.lanes = std::min(32, next_power_of_two(static_cast<std::int32_t>(ceil_div(q.problem.k, p.vec))));
        if (tile_width(p.lanes, 1, p.vec) < q.problem.k) p.items = 2;
        // Rows of many edges feed more groups.
        const std::int64_t degree = q.n_rows > 0 ? q.m / q.n_rows : 0;
        p.team = std::max(p.lanes, degree > 16 ? 32 : degree > 8 ? 16 : 8);
        return p;
    }
};

}  // namespace gnntune::kernels
