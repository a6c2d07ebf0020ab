// Params of kernels/common/column_pass.cuh, and what the host needs of it.
#pragma once

#include <algorithm>
#include <string>

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/binned_rows.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/shared_memory.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {

/// A group of `lanes` threads holds the features of one or more heads of a column, and gathers those of one edge's row
/// after the other; columns of more edges get more groups.
struct ColumnPassParams {
    int lanes = 8;  ///< threads per group: a multiple of head_lanes()
    int vec = 4;    ///< elements per load
    int items = 1;  ///< vectors of a lane
    int run = 8;    ///< edges that a group takes in at once
    int share = 8;  ///< edges of a group at most, until a column has a whole block
    int warps_per_block = 4;

    BinShape shape() const { return {lanes, share, 32 * warps_per_block}; }
    /// Threads of a group that share a head, a power of two.
    int head_lanes(std::int32_t k) const {
        return next_power_of_two(static_cast<std::int32_t>(ceil_div(k, vec * items)));
    }
    /// Bytes of shared memory of a block whose columns take several warps: sums of every lane of a group for each warp.
    int shared_bytes() const { return warps_per_block * lanes * (1 + items * vec) * static_cast<int>(sizeof(float)); }
    /// Groups, each of its own heads, that all heads of a column take.
    std::int64_t tiles(std::int32_t k, std::int32_t heads) const { return ceil_div(heads, lanes / head_lanes(k)); }

    bool operator==(const ColumnPassParams&) const = default;
    static const std::vector<ParamField<ColumnPassParams>>& fields() {
        static const std::vector<ParamField<ColumnPassParams>> kFields{
            {"lanes", &ColumnPassParams::lanes, {1, 2, 4, 8, 16, 32}},
            {"vec", &ColumnPassParams::vec, {1, 2, 4, 8}},
            {"items", &ColumnPassParams::items, {1, 2, 4}},
            {"run", &ColumnPassParams::run, {2, 4, 8}},
            {"share", &ColumnPassParams::share, {8, 32}},
            {"warps_per_block", &ColumnPassParams::warps_per_block, {4, 16}},
        };
        return kFields;
    }

    /// Most vectors of a lane: four of 16 bytes.
    static int most_items(const Problem& p) { return widest_vector(p) * size_of(p.dtype) == 16 ? 4 : 2; }
    /// Refuses heads that a warp does not hold.
    static Verdict require_head(const Problem& p) {
        const std::int32_t most = 32 * widest_vector(p) * most_items(p);
        if (p.k <= most) return Verdict::yes();
        return Verdict::no("a warp holds " + std::to_string(most) + " features, k=" + std::to_string(p.k) +
                           " was asked for");
    }
    /// Lanes that hold all heads, up to a warp.
    int whole_lanes(const Problem& p) const { return std::min(32, head_lanes(p.k) * next_power_of_two(p.heads)); }

    static Verdict legal(const Query& q, const ColumnPassParams& p) {
        const Problem& problem = q.problem;
        if (p.vec != widest_vector(problem)) {
            return Verdict::no("vec must be the widest that divides k=" + std::to_string(problem.k));
        }
        if (p.items > most_items(problem)) return Verdict::no("four vectors of a lane are for loads of 16 bytes");
        const int head_lanes = p.head_lanes(problem.k);
        if (head_lanes > 32) return Verdict::no("k=" + std::to_string(problem.k) + " needs more items");
        // In 16 bits two vectors go with four lanes too: what is scalar of an edge is half of its work.
        const int least_lanes = size_of(problem.dtype) == 2 && p.items == 2 ? 4 : 4 * p.items;
        if (p.items > 1 && head_lanes < least_lanes) {
            return Verdict::no("fewer items hold k with half a warp or less");
        }
        const bool wide = most_items(problem) == 4 && head_lanes >= 2;
        if (p.items == 1 ? p.run == 2 || (p.run == 8 && !wide) : p.run != 8 / p.items && !(p.run == 2 && wide)) {
            return Verdict::no(
                "run is 4 for one vector a lane, or 8 where it has 16 bytes and a head two lanes or more; "
                "4 or 2 for two; 2 for four");
        }
        if (p.run == 4 && p.items == 1 && wide && p.share != 8) {
            return Verdict::no("run=4, for short columns, is searched with share=8 only");
        }
        const int whole = p.whole_lanes(problem);
        if (p.lanes != whole && (p.lanes != whole / 2 || p.lanes < head_lanes || p.lanes * p.vec < 32)) {
            return Verdict::no("lanes hold all heads that a warp can, or half of them");
        }
        if (p.shared_bytes() > kUnaskedSharedBytes) return Verdict::no("so wide a group has blocks of 4 warps only");
        if (p.tiles(problem.k, problem.heads) > kMaxFeatureTiles) {
            return Verdict::no("heads=" + std::to_string(problem.heads) + " needs too many tiles");
        }
        return require_grid(p.shape().most_blocks(std::max(q.n_rows, q.n_cols), q.m));
    }

    // Chosen from the runs on 22 real graphs: 95 % of the fastest config there in geometric mean, little moved by where
    // much begins.
    static ColumnPassParams defaults(const Query& q) {
        ColumnPassParams p;
        p.vec = widest_vector(q.problem);
        while (p.head_lanes(q.problem.k) > 32) p.items *= 2;
        // A lane with two vectors does half of what is scalar of an edge.
        if (p.items == 1 && p.head_lanes(q.problem.k) >= 16) p.items = 2;
        const bool wide = most_items(q.problem) == 4 && p.head_lanes(q.problem.k) >= 2;
        p.run = p.items > 1 ? 8 / p.items : wide && q.m >= 6 * q.n_cols ? 8 : 4;
        p.lanes = p.whole_lanes(q.problem);
        const double work = static_cast<double>(q.m) * q.problem.k * q.problem.heads;
        p.share = work > 8e6 && !(p.items == 1 && wide && p.run == 4) ? 32 : 8;
        p.warps_per_block = 16;
        if (work > 2e6 || p.shared_bytes() > kUnaskedSharedBytes) p.warps_per_block = 4;
        return p;
    }
};

}  // namespace gnntune::kernels
