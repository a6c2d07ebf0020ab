// Params of kernels/common/gather_pass.cuh, and what the host needs of it.
#pragma once

#include <algorithm>
#include <string>

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/binned_rows.hpp"
#include "kernels/common/head_vectors.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/shared_memory.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {

/// How a group of lanes holds the features of the heads that a warp has room for. Vectors are as wide as k allows.
struct GatherShape {
    int items = 1;  ///< vectors of a lane
    int run = 4;    ///< edges that a group takes in at once

    /// Lanes that share a head, a power of two.
    int head_lanes(const Problem& p) const {
        return next_power_of_two(static_cast<std::int32_t>(ceil_div(p.k, widest_vector(p) * items)));
    }
    /// Lanes of a group: all heads that a warp can hold.
    int lanes(const Problem& p) const { return std::min(32, head_lanes(p) * next_power_of_two(p.heads)); }
    int heads_at_once(const Problem& p) const { return lanes(p) / head_lanes(p); }
    /// Groups, each of its own heads, that all heads of a row take.
    std::int64_t tiles(const Problem& p) const { return ceil_div(p.heads, heads_at_once(p)); }

    bool operator==(const GatherShape&) const = default;
};

/// Whether kernels/common/gather_pass.cuh has the shape, for a pass with dot products that gathers `gathered` rows of an
/// edge. Lanes have four vectors of each under way, or, in 16 bytes, eight. What a lane holds of 16-bit features is
/// twice as much, since sums and its own are widened.
Verdict require_gather_shape(const Problem& p, const GatherShape& s, int gathered);

/// The pass of a gradient that has the dot products, and what it shares with the other.
struct GatherPassParams : GatherShape {
    int share = 8;  ///< edges of a group at most, until a row has a whole block
    int warps_per_block = 4;

    bool operator==(const GatherPassParams&) const = default;
    static const std::vector<ParamField<GatherPassParams>>& fields() {
        static const std::vector<ParamField<GatherPassParams>> kFields{
            {"items", &GatherPassParams::items, {1, 2, 4}, {}},
            {"run", &GatherPassParams::run, {1, 2, 4, 8}, {}},
            {"share", &GatherPassParams::share, {8, 32}, {}},
            {"warps_per_block", &GatherPassParams::warps_per_block, {4, 16}, {}},
        };
        return kFields;
    }

    BinShape bins(const Problem& p) const { return {lanes(p), share, 32 * warps_per_block}; }
    /// Bytes of shared memory of a block whose rows take several warps, for `sums` sums of k features.
    int shared_bytes(const Problem& p, int sums) const {
        return warps_per_block * lanes(p) * (1 + sums * items * widest_vector(p)) * static_cast<int>(sizeof(float));
    }

    /// Rows that the pass with the dot products gathers for an edge, and sums of them: attention's two operands lie in
    /// different places, agnn's dot products are with the row that is summed.
    static int gathered(const Problem& p) { return p.op == Op::attention_grad ? 2 : 1; }
    /// The other pass, by rule: one row for attention, two for agnn.
    GatherPassParams other(const Problem& p) const;

    static Verdict legal(const Query& q, const GatherPassParams& p);
    static GatherPassParams defaults(const Query& q);
};

/// Refuses what no params are for.
Verdict require_gather_pass(const Query& q);

/// Adds to `terms` what the passes with and without dot products do of the rows' and columns' degrees, whose classes
/// are given in that order.
void add_gather_pass_cost(const Query& q, const GatherPassParams& p, const std::vector<DegreeClass>& first,
                          const std::vector<DegreeClass>& second, CostTerms& terms);

}  // namespace gnntune::kernels
