#include "kernels/agnn/binned/launch_typed.cuh"

namespace gnntune::agnn_binned {

template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::agnn_binned
