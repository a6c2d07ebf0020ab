#include "kernels/common/es_sample/launch_typed.cuh"

namespace gnntune::kernels {

template void launch_es_sample_typed<Float16>(const EsPlan&, const Operands&, StreamHandle);

}  // namespace gnntune::kernels
