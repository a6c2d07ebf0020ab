// Params of kernels whose only choice is the block: T of fuseGNN's algorithms.
#pragma once

#include "core/registry/param_fields.hpp"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {

struct BlockParams {
    int block_size = 256;

    static const std::vector<ParamField<BlockParams>>& fields() {
        static const std::vector<ParamField<BlockParams>> kFields{
            {"block_size", &BlockParams::block_size, {128, 256, 512}}};
        return kFields;
    }
    /// The largest grid of the variants that use it: a group of up to 32 threads, or a block where a row of features is
    /// wider, for each edge and head.
    static Verdict legal(const Query& q, const BlockParams& p) {
        const std::int64_t width = std::int64_t{q.problem.k} * q.problem.heads;
        const std::int64_t edges = width < p.block_size ? p.block_size / width : 1;
        return require_grid(std::max(ceil_div(q.m, edges), ceil_div(q.m * q.problem.heads, p.block_size / 32)));
    }
    static BlockParams defaults(const Query&) { return {}; }
};

}  // namespace gnntune::kernels
