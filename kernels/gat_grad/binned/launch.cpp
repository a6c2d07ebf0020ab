#include "kernels/gat_grad/binned/launch.hpp"

#include "kernels/common/storage.hpp"
#include "kernels/gat_grad/binned/workspace.hpp"

namespace gnntune::gat_grad_binned {

kernels::BinShape row_shape(std::int32_t heads) {
    return {std::min(32, kernels::next_power_of_two(heads)), 8, 128};
}

std::size_t workspace_bytes(const State& s) {
    return Workspace(s, nullptr).bytes;
}

void launch(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::with_storage(s.dtype,
                          [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, o, workspace, stream); });
}

}  // namespace gnntune::gat_grad_binned
