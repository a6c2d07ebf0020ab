#include "kernels/spmm/es_registers/launch_typed.cuh"

namespace gnntune::spmm_es_registers {

template void launch_typed<Float16>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::spmm_es_registers
