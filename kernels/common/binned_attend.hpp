// Params and plan of attention with rows binned by degree (kernels/common/binned_attend.cuh): agnn.binned,
// attention.binned.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/graph/formats.hpp"
#include "core/registry/param_fields.hpp"
#include "kernels/common/attention.hpp"
#include "kernels/common/binned_rows.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {

/// Vectors of a head that a lane has at most.
inline constexpr int kMostAttendItems = 4;
/// Vectors of one array that a lane has in flight at most: registers.
inline constexpr int kAttendInFlight = 8;

/// `lanes` threads hold the features of a head, `items` vectors each, and as many heads of a row as a warp has room for
/// make a group; rows of more edges get more groups.
struct BinnedAttendParams {
    int lanes = 8;  ///< threads per head
    int items = 1;  ///< vectors per lane and edge, as wide as k and the pointers of a run allow
    int run = 4;    ///< edges that a group takes in at once
    int share = 8;  ///< edges of a group at most, until a row has a whole block
    int warps_per_block = 4;

    bool operator==(const BinnedAttendParams&) const = default;

    /// Heads that a group holds, a power of two.
    int heads_at_once(std::int32_t heads) const { return std::min(32 / lanes, next_power_of_two(heads)); }
    BinShape shape(std::int32_t heads) const { return {lanes * heads_at_once(heads), share, 32 * warps_per_block}; }
    /// Feature tiles of a head, in vectors of `vec` elements.
    std::int64_t feature_tiles(std::int32_t k, int vec) const { return ceil_div(k, tile_width(lanes, items, vec)); }

    static Verdict legal(const Query& query, const BinnedAttendParams& params);
    static BinnedAttendParams defaults(const Query& query);
    /// Members of a params struct P that is one of these, or derived from it.
    template <typename P>
    static std::vector<ParamField<P>> fields_of() {
        std::vector<ParamField<P>> out;
        out.push_back({"lanes", &P::lanes, {1, 2, 4, 8, 16, 32}, {}});
        out.push_back({"items", &P::items, {1, 2, 4}, {}});
        out.push_back({"run", &P::run, {2, 4, 8}, {}});
        out.push_back({"share", &P::share, {8, 32}, {}});
        out.push_back({"warps_per_block", &P::warps_per_block, {4, 16}, {}});
        return out;
    }
    static const std::vector<ParamField<BinnedAttendParams>>& fields();
};

struct BinnedAttendPlan {
    std::shared_ptr<const CsrFormat> csr;
    BinnedRows rows;
    BinnedAttendParams params;
    std::int32_t k;
    std::int32_t heads;
    DType dtype;

    /// Partial results of a run.
    std::int32_t slots() const { return rows.pieces->slots; }
};

/// Refuses what no params are for.
Verdict require_binned_attend(const Query& query);

/// Sorts the rows: synchronises the context's stream.
BinnedAttendPlan plan_binned_attend(const PrepareContext& context, const BinnedAttendParams& params);

/// Bytes of the index arrays that every tile of features and heads reads.
double binned_attend_index_bytes(const Query& query, const BinnedAttendParams& params);

/// Adds to `terms` the gathers of whole rows for the dot product that every further feature tile repeats, and what the
/// teams do of the rows' degrees.
void add_binned_attend_cost(const Query& query, const BinnedAttendParams& params, CostTerms& terms);

}  // namespace gnntune::kernels
