#include "kernels/sddmm/binned/launch.hpp"

#include "kernels/common/storage.hpp"

namespace gnntune::sddmm_binned {

void launch(const State& s, const Operands& o, StreamHandle stream_handle) {
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::with_storage(s.dtype, [&]<typename T>(std::type_identity<T>) { launch_typed<T>(s, o, stream); });
}

}  // namespace gnntune::sddmm_binned
