#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_dense_blocks {

/// A thread block has `tile` features and up to `chunk` blocks of a block row. Edges of blocks of fewer than
/// `min_cells` cells are gathered one by one.
struct DenseBlocksParams {
    int tile = 128;
    int chunk = 32;  ///< blocks of a thread block at most; the sums of cut block rows meet in the workspace
    int min_cells = 8;

    bool operator==(const DenseBlocksParams&) const = default;
    static const std::vector<ParamField<DenseBlocksParams>>& fields();
    static Verdict legal(const Query& query, const DenseBlocksParams& params);
    /// With the `min_cells` alone that the graph's blocks ask for (README.md).
    static bool searched(const Query& query, const DenseBlocksParams& params);
    static DenseBlocksParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_dense_blocks
