#include "kernels/spmm/dense_blocks/launch_typed.cuh"

namespace gnntune::spmm_dense_blocks {

template void launch_typed<float>(const Plan&, const Operands&, void*, StreamHandle);
template void prepare_typed<float>(const Plan&);

}  // namespace gnntune::spmm_dense_blocks
