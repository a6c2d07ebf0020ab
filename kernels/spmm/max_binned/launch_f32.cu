#include "kernels/spmm/max_binned/launch_typed.cuh"

namespace gnntune::spmm_max_binned {

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_max_binned
