#include "kernels/spmm/edges/launch_typed.cuh"

namespace gnntune::spmm_edges {

template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::spmm_edges
