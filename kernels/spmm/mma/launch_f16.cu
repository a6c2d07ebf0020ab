#include "kernels/spmm/mma/launch_typed.cuh"

namespace gnntune::spmm_mma {

template void launch_typed<Float16>(const Plan&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_mma
