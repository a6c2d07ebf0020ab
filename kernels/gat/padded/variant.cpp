#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_gat_padded(Registry& registry) {
    Variant v;
    v.id = "gat.padded";
    v.op = Op::gat;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
