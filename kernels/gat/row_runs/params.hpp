#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::gat_row_runs {

inline constexpr int kThreads = 128;  ///< of a block
inline constexpr int kRun = 4;        ///< edges whose gathers are in flight together

/// A group of `lanes` threads has a tile of lanes * items * vec features, of all heads, of `rows` consecutive rows, one
/// after the other.
struct RowRunsParams {
    int lanes = 8;  ///< threads per group
    int vec = 4;    ///< elements per load
    int items = 2;  ///< loads per lane and edge; 2 with one head only
    int rows = 4;   ///< of a group

    /// Rows of a block.
    std::int64_t block_rows() const { return std::int64_t{kThreads / lanes} * rows; }

    bool operator==(const RowRunsParams&) const = default;
    static const std::vector<ParamField<RowRunsParams>>& fields();
    static Verdict legal(const Query& query, const RowRunsParams& params);
    static RowRunsParams defaults(const Query& query);
};

}  // namespace gnntune::gat_row_runs
