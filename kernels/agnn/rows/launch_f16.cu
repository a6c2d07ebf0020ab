#include "kernels/agnn/rows/launch_typed.cuh"

namespace gnntune::agnn_rows {

template void launch_typed<Float16>(const Plan&, const Operands&, void*, cudaStream_t);

}  // namespace gnntune::agnn_rows
