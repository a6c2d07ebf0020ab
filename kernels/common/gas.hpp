// The shape of fuseGNN's gather-apply-scatter kernels, forward and backward.
#pragma once

#include "core/common/host_device.hpp"
#include "core/registry/param_fields.hpp"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

/// Edges that a block of `threads` takes at once: "stride" of the paper.
GNNTUNE_HOST_DEVICE inline int edges_per_block(std::int32_t k, int threads) {
    return k < threads ? threads / k : 1;
}

struct GasParams {
    int block_size = 256;  ///< T of the paper

    static const std::vector<ParamField<GasParams>>& fields() {
        static const std::vector<ParamField<GasParams>> kFields{
            {"block_size", &GasParams::block_size, {128, 256, 512}}};
        return kFields;
    }
    static Verdict legal(const Query& q, const GasParams& p) {
        return require_grid(ceil_div(q.m, edges_per_block(q.problem.k, p.block_size)));
    }
    static GasParams defaults(const Query&) { return {}; }
};

}  // namespace gnntune::kernels
