#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::agnn_rows {

/// `split` groups of `lanes` threads share one row and head, and a tile of lanes * items * (vector width) features.
struct RowsParams {
    int lanes = 8;         ///< threads per group
    int split = 1;         ///< groups per row, 4 <= lanes * split <= 32; each takes runs of the edges
    int items = 2;         ///< vectors per lane and edge
    int stored_norms = 0;  ///< 1: a first kernel computes the inverse norms of x; 0: every gathered row gives its own

    bool operator==(const RowsParams&) const = default;
    static const std::vector<ParamField<RowsParams>>& fields();
    static Verdict legal(const Query& query, const RowsParams& params);
    static RowsParams defaults(const Query& query);
};

}  // namespace gnntune::agnn_rows
