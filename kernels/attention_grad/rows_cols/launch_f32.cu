#include "kernels/attention_grad/rows_cols/launch_typed.cuh"

namespace gnntune::attention_grad_rows_cols {

template void launch_typed<float>(const Plan&, const Operands&, void*, cudaStream_t);

}  // namespace gnntune::attention_grad_rows_cols
