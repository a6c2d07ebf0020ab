// launch_maximum() for every shape; included by the translation unit of each storage type.
#pragma once

#include "kernels/spmm_grad/binned/kernel.cuh"

namespace gnntune::spmm_grad_binned {

template <typename T>
void launch_maximum(const State& s, const Operands& o, void* workspace, StreamHandle stream) {
    launch_reduced<T, true>(s, o, workspace, stream);
}

}  // namespace gnntune::spmm_grad_binned
