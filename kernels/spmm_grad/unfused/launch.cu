#include "kernels/spmm_grad/unfused/launch.hpp"

#include "kernels/spmm_grad/unfused/kernel.cuh"

namespace gnntune::spmm_grad_unfused {

void launch_self_loops(std::int64_t n, std::int32_t k, const Operands& o, StreamHandle stream) {
    kernels::enqueue_self_loops<float>({.self_weight = o.self_weight,
                                        .in = o.grad_y,
                                        .out = o.grad_x,
                                        .add = true,
                                        .other = o.x,
                                        .dot = o.grad_self_weight,
                                        .n = n,
                                        .k = k},
                                       static_cast<cudaStream_t>(stream));
}

}  // namespace gnntune::spmm_grad_unfused
