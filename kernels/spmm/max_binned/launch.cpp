#include "kernels/spmm/max_binned/launch.hpp"

#include "core/common/float16.hpp"

namespace gnntune::spmm_max_binned {

// A product and an edge for each feature of each piece.
std::size_t workspace_bytes(const State& s) {
    return static_cast<std::size_t>(s.rows.pieces->slots) * static_cast<std::size_t>(s.k) *
           (sizeof(float) + sizeof(std::int32_t));
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

}  // namespace gnntune::spmm_max_binned
