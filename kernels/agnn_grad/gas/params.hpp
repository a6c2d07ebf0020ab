#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::agnn_grad_gas {

struct GasParams {
    int lanes = 8;  ///< threads per edge

    bool operator==(const GasParams&) const = default;
    static const std::vector<ParamField<GasParams>>& fields();
    static Verdict legal(const Query& query, const GasParams& params);
    static GasParams defaults(const Query& query);
};

}  // namespace gnntune::agnn_grad_gas
