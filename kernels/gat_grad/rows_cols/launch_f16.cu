#include "kernels/gat_grad/rows_cols/launch_typed.cuh"

namespace gnntune::gat_grad_rows_cols {

template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::gat_grad_rows_cols
