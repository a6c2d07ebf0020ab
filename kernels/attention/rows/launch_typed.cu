// attention.rows: y[i, h, :] = sum over edges e of row i of alpha~_e x[col_e, h, :], alpha the softmax over the row of
// s <x_row[i, h, :], key[col_e, h, :]>; alpha~ = alpha / (1 - p) where dropout keeps the edge, else 0;
// lse[i, h] = log of the sum of exp of these logits. The pass is that of kernels/common/attend.cuh, the logits those of
// kernels/attention/common/products.cuh. Instantiated for each storage type.
#include "kernels/attention/common/products.cuh"
#include "kernels/attention/rows/launch.hpp"
#include "kernels/common/attend.cuh"

namespace gnntune::attention_rows {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::WorkspaceCutter space(workspace);
    kernels::launch_attend(s, kernels::products_of<T, true>(o, *s.csr, s.k), {o.x, o.x_row, o.key, o.y},
                           elements_of<T>(o.y), o.lse, space, static_cast<cudaStream_t>(stream));
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::attention_rows
