#include "kernels/spmm/binned/launch_typed.cuh"

namespace gnntune::spmm_binned {

template void launch_typed<Float16>(const Plan&, const Operands&, void*, cudaStream_t);

}  // namespace gnntune::spmm_binned
