#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_spmm_grad_padded(Registry& registry) {
    Variant v;
    v.id = "spmm_grad.padded";
    v.op = Op::spmm_grad;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
