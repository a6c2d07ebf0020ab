#include "core/common/float16.hpp"
#include "kernels/spmm/mma/plan.hpp"

namespace gnntune::spmm_mma {

std::size_t workspace_bytes(const Plan& p) {
    return static_cast<std::size_t>(p.split.slots) * static_cast<std::size_t>(p.k) * sizeof(float);
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream) {
    switch (p.dtype) {
        case DType::f32:
            return launch_typed<float>(p, o, workspace, stream);
        case DType::f16:
            return launch_typed<Float16>(p, o, workspace, stream);
        case DType::bf16:
            return launch_typed<BFloat16>(p, o, workspace, stream);
    }
}

}  // namespace gnntune::spmm_mma
