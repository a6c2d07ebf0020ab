#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_rows {

inline constexpr int kMaxThreads = 256;  ///< of a block
inline constexpr int kUnroll = 4;        ///< edges whose gathers are in flight together

/// `split` groups of `lanes` threads share one row and a tile of lanes * items * vec features.
struct RowsParams {
    int lanes = 8;         ///< threads per group
    int split = 1;         ///< groups per row, lanes * split <= 32; each takes every split-th step of the edges
    int vec = 4;           ///< elements per load
    int items = 1;         ///< loads per lane and edge
    int unroll = kUnroll;  ///< has one value: stored configs name it
    int warps_per_block = 4;

    bool operator==(const RowsParams&) const = default;
    static const std::vector<ParamField<RowsParams>>& fields();
    static Verdict legal(const Query& query, const RowsParams& params);
    static RowsParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_rows
