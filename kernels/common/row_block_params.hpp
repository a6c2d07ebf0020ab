// Params of passes over blocks of rows on the CPU.
#pragma once

#include <vector>

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

struct RowBlockParams {
    int row_block = 64;  ///< rows that a thread takes at once

    static const std::vector<ParamField<RowBlockParams>>& fields() {
        static const std::vector<ParamField<RowBlockParams>> kFields{
            {"row_block", &RowBlockParams::row_block, {16, 64, 256}},
        };
        return kFields;
    }
    static Verdict legal(const Query&, const RowBlockParams&) { return Verdict::yes(); }
    static RowBlockParams defaults(const Query&) { return {}; }
};

}  // namespace gnntune::kernels
