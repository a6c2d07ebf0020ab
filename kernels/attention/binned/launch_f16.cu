#include "kernels/attention/binned/launch_typed.cuh"

namespace gnntune::attention_binned {

template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::attention_binned
