#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/binned_rows.hpp"

namespace gnntune::gcn_norm_binned {

inline constexpr int kThreads = 128;
inline constexpr int kRun = 4;  ///< edges of a thread whose loads are under way at once

/// Rows of up to kRun edges for each of `lanes` threads have such a team; longer ones larger teams, a round of kRun
/// edges a thread each, until a row has a whole block.
struct NormParams {
    int kernels = 2;  ///< 2: degrees, then weights; 1 (unweighted): every edge takes both degrees from row_ptr
    int lanes = 4;    ///< threads of the smallest team
    int walk = 1;     ///< edges are weighted row by row (1), or column by column (2): both ends have the same factor

    static const std::vector<ParamField<NormParams>>& fields();
    static Verdict legal(const Query& query, const NormParams& params);
    static NormParams defaults(const Query& query);
};

inline constexpr int kByRows = 1;
inline constexpr int kByColumns = 2;

inline kernels::BinShape shape_of(const NormParams& p) {
    return {p.lanes, p.lanes * kRun, kThreads};
}

}  // namespace gnntune::gcn_norm_binned
