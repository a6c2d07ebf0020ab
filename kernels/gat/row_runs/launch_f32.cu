#include "kernels/gat/row_runs/launch_typed.cuh"

namespace gnntune::gat_row_runs {

template void launch_typed<float>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::gat_row_runs
