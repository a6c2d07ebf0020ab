#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/binned_rows.hpp"

namespace gnntune::spmm_grad_columns {

/// A group of `lanes` threads gathers a tile of lanes * items vectors of 16 bytes of one edge after the other; columns of
/// more edges get more groups.
struct ColumnsParams {
    int lanes = 8;  ///< threads per group
    int items = 1;  ///< loads per lane and edge; 8 / items edges are in flight together
    int share = 8;  ///< edges of a group at most, until a column has a whole block
    int warps_per_block = 4;

    kernels::BinShape shape() const { return {lanes, share, 32 * warps_per_block}; }

    static const std::vector<ParamField<ColumnsParams>>& fields();
    static Verdict legal(const Query& query, const ColumnsParams& params);
    static ColumnsParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_grad_columns
