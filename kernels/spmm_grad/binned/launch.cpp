#include "kernels/spmm_grad/binned/launch.hpp"
#include "core/common/float16.hpp"

namespace gnntune::spmm_grad_binned {

std::size_t workspace_bytes(const State& s) {
    return static_cast<std::size_t>(s.cols.pieces.slots) * static_cast<std::size_t>(s.k) * sizeof(float);
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    switch (s.dtype) {
        case DType::f32:
            return launch_typed<float>(s, o, workspace, stream);
        case DType::f16:
            return launch_typed<Float16>(s, o, workspace, stream);
        case DType::bf16:
            return launch_typed<BFloat16>(s, o, workspace, stream);
    }
}

}  // namespace gnntune::spmm_grad_binned
