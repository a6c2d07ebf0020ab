#include "kernels/gat_grad/binned/launch_typed.cuh"

namespace gnntune::gat_grad_binned {

template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_grad_binned
