// spmm_grad.unfused: the gradients of y = A x as two ops of their own:
//   grad_x           = A^T grad_y                          spmm in the opposite direction
//   grad_edge_weight = <grad_y[row_e, :], x[col_e, :]>     sddmm, weighted problems only
// and, with self loops, a kernel for their terms (kernels/common/self_loop.cuh):
//   grad_x[i, :]    += self_weight[i] grad_y[i, :],   grad_self_weight[i] = <grad_y[i, :], x[i, :]>
//
// Layout   x, grad_x [n_cols, k], grad_y [n_rows, k] row-major; edge_weight, grad_edge_weight [m] in the caller's order, in
//          which both parts read and write; self_weight, grad_self_weight [n]; device memory.
// Work     the parts' own. The self loops' kernel follows them on the stream: a group of lanes per row.
// Data     grad_y is gathered twice, once per part; the fused variants gather it once.
// Shared   none here.  Atomics: the parts' own.
#pragma once

#include "kernels/common/self_loop.cuh"
