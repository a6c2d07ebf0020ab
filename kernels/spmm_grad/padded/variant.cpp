#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"
#include "kernels/common/column_pass.hpp"

namespace gnntune {
namespace spmm_grad_padded {
namespace {

// Wider heads are for compositions alone, which are no part of one.
Verdict applicable(const Query& q) {
    const Verdict padding = kernels::require_padding(q);
    return padding ? kernels::ColumnPassParams::require_head(kernels::filled_up(q).problem) : padding;
}

}  // namespace
}  // namespace spmm_grad_padded

void register_spmm_grad_padded(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.padded";
    v.op = Op::spmm_grad;
    kernels::set_padded(v);
    v.applicable = &spmm_grad_padded::applicable;
    registry.add(v);
}

}  // namespace gnntune
