#include "kernels/spmm/common/es_sample/launch.hpp"

#include "kernels/common/storage.hpp"

namespace gnntune::kernels {

void launch_es_sample(const EsPlan& p, const Operands& o, StreamHandle stream) {
    with_storage(p.dtype, [&]<typename T>(std::type_identity<T>) { launch_es_sample_typed<T>(p, o, stream); });
}

}  // namespace gnntune::kernels
