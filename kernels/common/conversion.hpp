// What the variants of the conversion ops share.
#pragma once

#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune::kernels {

/// What the plan of a conversion keeps: the graph it starts from and how much workspace a run needs.
template <typename Format>
struct ConversionState {
    std::shared_ptr<const Format> graph;
    std::size_t workspace_bytes = 0;
};

template <typename Format>
std::size_t conversion_workspace(const void* state) {
    return static_cast<const ConversionState<Format>*>(state)->workspace_bytes;
}

/// The record of a conversion without params that repeats bit for bit, but for id, summary, prepare and launch.
template <typename Format>
Variant conversion_variant(Op op, Backend backend) {
    Variant v;
    v.op = op;
    v.backend = backend;
    v.default_rank = 10;
    v.can = kAnyKind;
    set_no_params(v);
    v.deterministic = &always_deterministic;
    v.formats = op == Op::coo_to_csr ? &needs_coo : &needs_csr;
    v.workspace_bytes = &conversion_workspace<Format>;
    return v;
}

/// Compulsory bytes of a conversion and `scratch_bytes` for each edge in between.
inline CostTerms conversion_cost(const Query& q, double scratch_bytes) {
    const Work work = work_of(q, 0);
    CostTerms terms;
    terms.dram_bytes = work.a_bytes + work.out_bytes + scratch_bytes * static_cast<double>(q.m);
    terms.l2_bytes = terms.dram_bytes;
    return terms;
}

}  // namespace gnntune::kernels
