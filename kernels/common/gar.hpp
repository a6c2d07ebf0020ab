// The shape of fuseGNN's gather-apply-reduce kernels, forward and backward: a block per row.
#pragma once

#include "core/registry/param_fields.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

struct GarParams {
    int block_size = 128;  ///< T of the paper

    static const std::vector<ParamField<GarParams>>& fields() {
        static const std::vector<ParamField<GarParams>> kFields{{"block_size", &GarParams::block_size, {64, 128, 256}}};
        return kFields;
    }
    static Verdict legal(const Query&, const GarParams&) { return Verdict::yes(); }
    static GarParams defaults(const Query&) { return {}; }
};

}  // namespace gnntune::kernels
