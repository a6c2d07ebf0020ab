#pragma once

#include "core/graph/formats.hpp"
#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::gcn_norm_rows {

struct RowsParams {
    int kernels = 2;  ///< 2: degrees, then weights; 1 (unweighted): every edge takes both degrees from row_ptr
    int lanes = 8;    ///< threads that sum a row's weights

    static const std::vector<ParamField<RowsParams>>& fields();
    static Verdict legal(const Query& query, const RowsParams& params);
    static RowsParams defaults(const Query& query);
};

struct State {
    std::shared_ptr<const CsrFormat> graph;
    RowsParams params;
    bool weighted;
    DType dtype;
    int multiprocessors;
};

/// Enqueues one run; `workspace` has a float per vertex if there are two kernels. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gcn_norm_rows
