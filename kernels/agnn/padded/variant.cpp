#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_agnn_padded(Registry& registry) {
    Variant v;
    v.id = "agnn.padded";
    v.op = Op::agnn;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
