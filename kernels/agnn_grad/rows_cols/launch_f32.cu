#include "kernels/agnn_grad/rows_cols/launch_typed.cuh"

namespace gnntune::agnn_grad_rows_cols {

template void launch_typed<float>(const Plan&, const Operands&, void*, cudaStream_t);

}  // namespace gnntune::agnn_grad_rows_cols
