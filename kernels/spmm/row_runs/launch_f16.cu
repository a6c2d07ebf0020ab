#include "kernels/spmm/row_runs/launch_typed.cuh"

namespace gnntune::spmm_row_runs {

template void launch_typed<Float16>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::spmm_row_runs
