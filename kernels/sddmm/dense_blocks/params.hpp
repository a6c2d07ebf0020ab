#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::sddmm_dense_blocks {

/// A warp has `rows` rows of a block with all of its columns. Edges of blocks of fewer than `min_cells` cells are
/// multiplied one by one.
struct DenseBlocksParams {
    int rows = 32;
    int min_cells = 32;

    bool operator==(const DenseBlocksParams&) const = default;
    static const std::vector<ParamField<DenseBlocksParams>>& fields();
    static Verdict legal(const Query& query, const DenseBlocksParams& params);
    static DenseBlocksParams defaults(const Query& query);
};

}  // namespace gnntune::sddmm_dense_blocks
