// The bias of a layer, behind an operation on a graph, and its gradient. Dense, without a graph.
//
// With x and y [n, k] and bias [k]:
//   y[i, :] = x[i, :] + bias; y may be x
//   grad_bias = sum over i of grad_y[i, :]
// Elements are of `dtype`; sums are formed in fp32, in an order that sizes and alignments determine, and rounded once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/registry/op.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

struct BiasShape {
    std::int32_t n = 0;
    std::int32_t k = 1;
    DType dtype = DType::f32;
};

/// On a GPU they enqueue on the stream, and the device is current; on the CPU the stream is passed over.
void bias_add(Backend backend, const BiasShape& shape, const void* x, const void* bias, void* y, StreamHandle stream);
/// `workspace` has bias_grad_workspace() bytes.
void bias_grad(Backend backend, const BiasShape& shape, const void* grad_y, void* grad_bias, void* workspace,
               StreamHandle stream);

/// Of either backend; 0 where the rows are one part.
std::size_t bias_grad_workspace(const BiasShape& shape);

/// Of a build with CUDA: bias.cu.
void bias_add_on_gpu(const BiasShape& shape, const void* x, const void* bias, void* y, StreamHandle stream);
void bias_grad_on_gpu(const BiasShape& shape, const void* grad_y, void* grad_bias, void* workspace,
                      StreamHandle stream);

/// Parts of the rows that are summed up by themselves. Where there are several their sums, a row of k floats each, are in
/// the workspace before they are added up.
std::int32_t bias_grad_parts(const BiasShape& shape);

}  // namespace gnntune::kernels
