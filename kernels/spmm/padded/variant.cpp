#include "kernels/common/padded/variant.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

void register_spmm_padded(Registry& registry) {
    Variant v;
    v.id = "spmm.padded";
    v.op = Op::spmm;
    kernels::set_padded(v);
    registry.add(v);
}

}  // namespace gnntune
