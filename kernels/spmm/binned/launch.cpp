#include "kernels/spmm/binned/launch.hpp"

#include "kernels/common/storage.hpp"

namespace gnntune::spmm_binned {

std::size_t workspace_bytes(const Plan& p) {
    return static_cast<std::size_t>(p.rows.pieces->slots) * static_cast<std::size_t>(p.k) * sizeof(float);
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::with_storage(p.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(p, o, workspace, stream); });
}

}  // namespace gnntune::spmm_binned
