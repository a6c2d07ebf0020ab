#include "kernels/agnn/rows/launch_typed.cuh"

namespace gnntune::agnn_rows {

template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::agnn_rows
