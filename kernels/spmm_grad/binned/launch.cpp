#include "kernels/spmm_grad/binned/launch.hpp"

#include "kernels/common/storage.hpp"

namespace gnntune::spmm_grad_binned {

std::size_t workspace_bytes(const State& s) {
    return static_cast<std::size_t>(s.cols.pieces->slots) * static_cast<std::size_t>(s.heads) *
           static_cast<std::size_t>(s.k) * sizeof(float);
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, o, workspace, stream); });
}

}  // namespace gnntune::spmm_grad_binned
