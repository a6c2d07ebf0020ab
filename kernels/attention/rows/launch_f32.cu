#include "kernels/attention/rows/launch_typed.cuh"

namespace gnntune::attention_rows {

template void launch_typed<float>(const Plan&, const Operands&, void*, cudaStream_t);

}  // namespace gnntune::attention_rows
