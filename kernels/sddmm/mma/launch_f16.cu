#include "kernels/sddmm/mma/launch_typed.cuh"

namespace gnntune::sddmm_mma {

template void launch_typed<Float16>(const Plan&, const Operands&, cudaStream_t);

}  // namespace gnntune::sddmm_mma
