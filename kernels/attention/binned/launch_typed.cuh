// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "kernels/attention/binned/launch.hpp"
#include "kernels/common/binned_attend.cuh"
#include "kernels/common/products.cuh"

namespace gnntune::attention_binned {

template <typename T>
void launch_typed(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::WorkspaceCutter space(workspace);
    const kernels::Products<T> products{elements_of<T>(o.x), elements_of<T>(o.x_row), elements_of<T>(o.key),
                                        logit_scale(o, s.k)};
    kernels::launch_binned_attend(s, products, {o.x, o.x_row, o.key, o.y}, elements_of<T>(o.y), o.lse, space,
                                  static_cast<cudaStream_t>(stream));
}

}  // namespace gnntune::attention_binned
