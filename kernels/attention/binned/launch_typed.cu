// attention.binned: y[i, h, :] = sum over edges e of row i of alpha~_e x[col_e, h, :], alpha the softmax over the row of
// s <x_row[i, h, :], key[col_e, h, :]>; alpha~ = alpha / (1 - p) where dropout keeps the edge, else 0;
// lse[i, h] = log of the sum of exp of these logits. The pass is that of kernels/common/binned_attend.cuh, the logits
// those of kernels/attention/common/products.cuh. Instantiated for each storage type.
#include "kernels/attention/binned/launch.hpp"
#include "kernels/attention/common/products.cuh"
#include "kernels/common/binned_attend.cuh"

namespace gnntune::attention_binned {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::WorkspaceCutter space(workspace);
    kernels::with_dropout(o, [&](auto dropout) {
        kernels::launch_binned_attend(s, kernels::products_of<T, dropout()>(o, *s.csr, s.k), {o.x, o.x_row, o.key, o.y},
                                      elements_of<T>(o.y), o.lse, space, static_cast<cudaStream_t>(stream));
    });
}

template void launch_typed<float>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, void*, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, void*, StreamHandle);

}  // namespace gnntune::attention_binned
