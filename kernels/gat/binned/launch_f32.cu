#include "kernels/gat/binned/launch_typed.cuh"

namespace gnntune::gat_binned {

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_binned
