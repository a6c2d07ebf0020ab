#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/binned_rows.hpp"

namespace gnntune::sddmm_binned {

/// A group of `lanes` threads keeps the first lanes * items * vec features of a row of x_row in registers, and takes
/// `run` edges of the row at a time; rows of more edges get more groups.
struct BinnedParams {
    int lanes = 8;  ///< threads per group
    int vec = 4;    ///< elements per load
    int items = 1;  ///< vectors of a lane
    int run = 8;    ///< edges that a group has under way
    int share = 8;  ///< edges of a group at most, until a row has a whole block
    int warps_per_block = 4;

    kernels::BinShape shape() const { return {lanes, share, 32 * warps_per_block}; }

    bool operator==(const BinnedParams&) const = default;
    static const std::vector<ParamField<BinnedParams>>& fields();
    static Verdict legal(const Query& query, const BinnedParams& params);
    static BinnedParams defaults(const Query& query);
};

}  // namespace gnntune::sddmm_binned
