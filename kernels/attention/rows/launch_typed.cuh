// launch_typed() for every shape; included by the translation unit of each storage type.
#pragma once

#include "kernels/attention/rows/plan.cuh"
#include "kernels/common/products.cuh"

namespace gnntune::attention_rows {

template <typename T>
void launch_typed(const Plan& p, const Operands& o, void* workspace, cudaStream_t stream) {
    kernels::WorkspaceCutter space(workspace);
    const kernels::Products<T> products{elements_of<T>(o.x), elements_of<T>(o.x_row), elements_of<T>(o.key),
                                        logit_scale(o, p.rows.k)};
    kernels::launch_attend(p.rows, products, {o.x, o.x_row, o.key, o.y}, elements_of<T>(o.y), o.lse,
                           kernels::take_results(p.rows, space), stream);
}

}  // namespace gnntune::attention_rows
