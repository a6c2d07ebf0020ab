#include "kernels/common/storage.hpp"
#include "kernels/spmm/mma/plan.hpp"

namespace gnntune::spmm_mma {

std::size_t workspace_bytes(const Plan& p) {
    return static_cast<std::size_t>(p.split.slots) * static_cast<std::size_t>(p.k) * sizeof(float);
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(p.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(p, o, workspace, stream); });
}

}  // namespace gnntune::spmm_mma
