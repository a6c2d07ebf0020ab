#include "kernels/spmm/mma/launch_typed.cuh"

namespace gnntune::spmm_mma {

template void launch_typed<float>(const Plan&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_mma
