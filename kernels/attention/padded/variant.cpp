#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_attention_padded(Registry& registry) {
    Variant v;
    v.id = "attention.padded";
    v.op = Op::attention;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
