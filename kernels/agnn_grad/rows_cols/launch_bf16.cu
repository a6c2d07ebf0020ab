#include "kernels/agnn_grad/rows_cols/launch_typed.cuh"

namespace gnntune::agnn_grad_rows_cols {

template void launch_typed<BFloat16>(const kernels::TwoPassPlan&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::agnn_grad_rows_cols
