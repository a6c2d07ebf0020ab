#include "kernels/sddmm/dense_blocks/launch_typed.cuh"

namespace gnntune::sddmm_dense_blocks {

template void launch_typed<float>(const Plan&, const Operands&, cudaStream_t);
template void prepare_typed<float>(const Plan&);

}  // namespace gnntune::sddmm_dense_blocks
