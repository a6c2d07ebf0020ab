#pragma once

#include "kernels/common/typed_variant.hpp"

namespace gnntune::spmm_max_rows {

struct MaxRowsParams {
    int block_size = 256;

    static const std::vector<ParamField<MaxRowsParams>>& fields();
    static Verdict legal(const Query& query, const MaxRowsParams& params);
    static MaxRowsParams defaults(const Query&) { return {}; }

    /// Threads of a block along the features: no more than there are, whole warps' worth of them.
    int wide(std::int32_t k) const;
    int rows(std::int32_t k) const { return block_size / wide(k); }
};

using State = kernels::PlanState<MaxRowsParams, CsrFormat>;

/// Enqueues one run. Throws on a launch error.
void launch(const State& state, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::spmm_max_rows
