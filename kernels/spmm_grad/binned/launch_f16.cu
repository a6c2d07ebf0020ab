#include "kernels/spmm_grad/binned/kernel.cuh"

namespace gnntune::spmm_grad_binned {

template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_grad_binned
