#include "kernels/spmm_grad/binned/maximum.cuh"

namespace gnntune::spmm_grad_binned {

template void launch_maximum<float>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_grad_binned
