// spmm_grad.binned: gradients of spmm with one gather per edge: kernels/common/column_pass.cuh, with SpmmEdges
// (kernels/spmm_grad/common/spmm_edges.cuh, which has the equations and the layout of what is an edge's).
//
// Mean     s_i of an edge's row is made once per plan, in the order of the CSC: it is read with the row's id, where the
//          row's two offsets would be asked for after it.
// Atomics  none.
#pragma once

#include "kernels/spmm_grad/binned/launch.hpp"
#include "kernels/spmm_grad/common/spmm_edges.cuh"

namespace gnntune::spmm_grad_binned {

using namespace kernels;  // NOLINT: this header is included by launch_typed.cu alone

}  // namespace gnntune::spmm_grad_binned
