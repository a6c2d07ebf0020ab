#pragma once

#include "kernels/common/typed_variant.hpp"

namespace gnntune::gcn_norm_gas {

struct GasParams {
    int block_size = 256;

    static const std::vector<ParamField<GasParams>>& fields();
    static Verdict legal(const Query& query, const GasParams& params);
    static GasParams defaults(const Query&) { return {}; }
};

using State = kernels::PlanState<GasParams, CooFormat>;

std::size_t workspace_bytes(const State& state);

/// Enqueues one run. Throws on a launch error.
void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::gcn_norm_gas
