#include "kernels/attention/rows/launch_typed.cuh"

namespace gnntune::attention_rows {

template void launch_typed<Float16>(const Plan&, const Operands&, void*, cudaStream_t);

}  // namespace gnntune::attention_rows
