#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_gat_grad_padded(Registry& registry) {
    Variant v;
    v.id = "gat_grad.padded";
    v.op = Op::gat_grad;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
