#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_attention_grad_padded(Registry& registry) {
    Variant v;
    v.id = "attention_grad.padded";
    v.op = Op::attention_grad;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
