// agnn.binned: y[i, h, :] = sum over edges e of row i of alpha_e x[col_e, h, :], alpha the softmax over the row of
// beta[h] cos(x_row[i, h, :], x[col_e, h, :]);
// lse[i, h] = log of the sum of exp of these logits. The pass is that of kernels/common/binned_attend.cuh, the logits
// those of kernels/agnn/common/cosines.cuh. Instantiated for each storage type.
#include "kernels/agnn/binned/launch.hpp"
#include "kernels/agnn/common/cosines.cuh"
#include "kernels/common/binned_attend.cuh"

namespace gnntune::agnn_binned {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream_handle) {
    kernels::WorkspaceCutter space(workspace);
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    kernels::with_cosines<T>(s, o, space, stream, [&](const auto& cosines) {
        kernels::launch_binned_attend(s.rows, cosines, {o.x, o.x_row, o.y}, elements_of<T>(o.y), o.lse, space, stream);
    });
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::agnn_binned
