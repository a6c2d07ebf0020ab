#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"
#include "kernels/common/row_runs.hpp"

namespace gnntune::spmm_row_runs {

inline constexpr int kThreads = kernels::RowRuns::kThreads;
inline constexpr int kRun = kernels::RowRuns::kEdges;

/// A group of lanes sums a tile of features of several consecutive rows, one after the other.
struct RowRunsParams : kernels::RowRuns {
    bool operator==(const RowRunsParams&) const = default;
    static const std::vector<ParamField<RowRunsParams>>& fields() { return kernels::row_runs_fields<RowRunsParams>(); }
    static Verdict legal(const Query& query, const RowRunsParams& params);
    /// Neither self loops in 16 bits, where it is the fastest nowhere, nor rows of more than ten edges in the mean, where it is
    /// the fastest of one problem in a thousand, by 1.03x (README.md).
    static bool searched(const Query& query, const RowRunsParams&) {
        const bool narrow_loops = query.problem.self_loop && query.problem.dtype != DType::f32;
        return !narrow_loops && (!query.features || query.m <= 10 * query.n_rows);
    }
    static RowRunsParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_row_runs
