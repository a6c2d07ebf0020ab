#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::sddmm_dense_blocks {

/// A warp's copies are `stages` steps of features ahead. Edges of blocks of fewer than `min_cells` cells are multiplied
/// one by one.
struct DenseBlocksParams {
    int stages = 2;
    int min_cells = 128;

    bool operator==(const DenseBlocksParams&) const = default;
    static const std::vector<ParamField<DenseBlocksParams>>& fields();
    static Verdict legal(const Query& query, const DenseBlocksParams& params);
    static DenseBlocksParams defaults(const Query& query);
};

}  // namespace gnntune::sddmm_dense_blocks
