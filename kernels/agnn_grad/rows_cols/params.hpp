#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::agnn_grad_rows_cols {

/// `split` groups of `lanes` threads share one row (column) and head, and a tile of lanes * items * (vector width)
/// features.
struct RowsColsParams {
    int lanes = 8;  ///< threads per group
    int split = 1;  ///< groups per row, 4 <= lanes * split <= 32; each takes runs of the edges
    int items = 1;  ///< vectors per lane and edge

    bool operator==(const RowsColsParams&) const = default;
    static const std::vector<ParamField<RowsColsParams>>& fields();
    static Verdict legal(const Query& query, const RowsColsParams& params);
    static RowsColsParams defaults(const Query& query);
};

}  // namespace gnntune::agnn_grad_rows_cols
