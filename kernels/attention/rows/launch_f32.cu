#include "kernels/attention/rows/launch_typed.cuh"

namespace gnntune::attention_rows {

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::attention_rows
