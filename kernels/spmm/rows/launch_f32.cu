#include "kernels/spmm/rows/launch_typed.cuh"

namespace gnntune::spmm_rows {

template void launch_typed<float>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::spmm_rows
