#include "kernels/gat/rows/launch_typed.cuh"

namespace gnntune::gat_rows {

template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_rows
