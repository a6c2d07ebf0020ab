// Which arrays each op reads and writes, in which shapes: the one list that the dispatcher library, the tuner and the
// conformance suite bind operands by.
//
//   op            reads                                                  writes
//   spmm          x [n_cols, h, k], (edge_weight [m, w]), (self_weight [n, w])
//                                                                        y [n_rows, h, k], (argmax [n_rows, h, k])
//   sddmm         x, x_row [n_rows, h, k], (edge_weight [m])             y [m, h]
//   spmm_grad     x, grad_y [n_rows, h, k], (edge_weight), (self_weight) grad_x, (grad_edge_weight [m, w]),
//                 (argmax_saved)                                         (grad_self_weight [n, w])
//   edge_softmax  edge_weight [m, h]: the logits                         y [m, h]
//   gat           x, score_row [n_rows, h], score_col [n_cols, h]        y [n_rows, h, k], lse [n_rows, h]
//   gat_grad      the same, grad_y, y_saved, lse_saved                   grad_x, grad_score_row, grad_score_col
//   agnn          x, x_row, beta [h]                                     y, lse
//   agnn_grad     the same, grad_y, y_saved, lse_saved                   grad_x, grad_x_row, grad_beta [h]
//   attention     x, x_row, key [n_cols, h, k]                           y, lse
//   attention_grad  the same, grad_y, y_saved, lse_saved                 grad_x, grad_x_row, grad_key [n_cols, h, k]
//   gcn_norm      (edge_weight [m], >= 0)                                y [m], y_self [n_rows]
//   coo_to_csr    nothing but the graph                                  out_ptr [n_rows + 1], out_idx [m], out_edge_id [m]
//   csr_to_csc    nothing but the graph                                  out_ptr [n_cols + 1], out_idx [m], out_edge_id [m]
//   sgt           nothing but the graph                                  (nothing that is compared here)
// Elements are of the problem's dtype, but for lse, which is f32 in every problem, and int32 arrays.
// In parentheses: only if the problem is weighted, has self loops, or reduces by max. w: weight_heads(), h in weighted
// sums and means and else 1. n_rows and n_cols are those of the direction.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/registry/variant.hpp"

namespace gnntune {

/// How an input is drawn for checks and timing.
enum class Fill : std::int32_t {
    values,        ///< both signs, around 1
    positive,      ///< above 0: weights of gcn_norm
    logits,        ///< both signs, wide enough that a softmax is far from uniform
    saved_y,       ///< y of the forward op on the same inputs
    saved_lse,     ///< lse of the forward op on the same inputs
    saved_argmax,  ///< argmax of the forward op on the same inputs
};

/// One array of a problem. Exactly one of the four members is set.
struct ArraySpec {
    std::string_view name;  ///< of the member of Operands, as in the C ABI
    const float* Operands::*input = nullptr;
    const std::int32_t* Operands::*index_input = nullptr;
    float* Operands::*output = nullptr;
    std::int32_t* Operands::*index_output = nullptr;
    std::int64_t rows = 0;
    std::int64_t width = 1;
    Fill fill = Fill::values;
    bool optional = false;     ///< may be null
    DType dtype = DType::f32;  ///< of its elements; int32 arrays have none

    std::int64_t size() const { return rows * width; }
    bool is_index() const { return index_input || index_output; }
    std::size_t element_bytes() const { return is_index() ? sizeof(std::int32_t) : size_of(dtype); }
    std::size_t bytes() const { return static_cast<std::size_t>(size()) * element_bytes(); }
    bool is_input() const { return input || index_input; }
    /// Writes the address of the array into its member of `operands`.
    void bind(Operands& operands, void* data) const {
        if (input) operands.*input = static_cast<const float*>(data);
        if (index_input) operands.*index_input = static_cast<const std::int32_t*>(data);
        if (output) operands.*output = static_cast<float*>(data);
        if (index_output) operands.*index_output = static_cast<std::int32_t*>(data);
    }
};

/// Every array of the problem: inputs first, then outputs, each in the order of the table above.
std::vector<ArraySpec> arrays_of(const Query& query);

/// The op whose results a gradient op is given; the op itself otherwise.
Op forward_of(Op op);

}  // namespace gnntune
