#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_agnn_grad_padded(Registry& registry) {
    Variant v;
    v.id = "agnn_grad.padded";
    v.op = Op::agnn_grad;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
