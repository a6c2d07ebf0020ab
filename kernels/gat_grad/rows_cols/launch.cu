#include "kernels/gat_grad/rows_cols/launch.hpp"

#include "kernels/common/storage.hpp"
#include "kernels/gat_grad/rows_cols/workspace.cuh"

namespace gnntune::gat_grad_rows_cols {

std::size_t workspace_bytes(const State& s) {
    return Workspace(s, nullptr).bytes;
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, o, workspace, stream); });
}

}  // namespace gnntune::gat_grad_rows_cols
