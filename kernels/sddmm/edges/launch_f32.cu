#include "kernels/sddmm/edges/launch_typed.cuh"

namespace gnntune::sddmm_edges {

template void launch_typed<float>(const CooFormat&, const EdgesParams&, std::int32_t, bool, const Operands&,
                                  cudaStream_t);

}  // namespace gnntune::sddmm_edges
