#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/binned_rows.hpp"

namespace gnntune::spmm_max_binned {

/// A group of `lanes` threads gathers a tile of lanes * items * vec features of one edge after the other; rows of more
/// edges get more groups.
struct MaxParams {
    int lanes = 8;  ///< threads per group
    int vec = 4;    ///< elements per load
    int items = 1;  ///< vectors of a lane
    int share = 8;  ///< edges of a group at most, until a row has a whole block
    int warps_per_block = 4;

    int threads() const { return 32 * warps_per_block; }
    kernels::BinShape shape() const { return {lanes, share, threads()}; }

    bool operator==(const MaxParams&) const = default;
    static const std::vector<ParamField<MaxParams>>& fields();
    static Verdict legal(const Query& query, const MaxParams& params);
    static MaxParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_max_binned
