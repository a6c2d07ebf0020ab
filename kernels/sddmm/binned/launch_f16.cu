#include "kernels/sddmm/binned/launch_typed.cuh"

namespace gnntune::sddmm_binned {

template void launch_typed<Float16>(const State&, const Operands&, cudaStream_t);

}  // namespace gnntune::sddmm_binned
