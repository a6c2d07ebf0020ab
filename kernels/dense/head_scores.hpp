// Scores of a layer of GAT, from its vectors of attention, and their gradients: what stands before `gat` and behind
// `gat_grad`. Dense, without a graph.
//
// With x [n, heads, k] and att_row, att_col [heads, k]:
//   score_row[i, h] = <x[i, h, :], att_row[h, :]>, score_col likewise
//   grad_x[i, h, :] += grad_score_row[i, h] att_row[h, :] + grad_score_col[i, h] att_col[h, :]
//   grad_att_row[h, :] = sum over i of grad_score_row[i, h] x[i, h, :], grad_att_col likewise
// Elements are of `dtype`; sums are formed in fp32, in an order that sizes and alignments determine, and rounded once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/registry/op.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

struct HeadShape {
    std::int32_t n = 0;
    std::int32_t heads = 1;
    std::int32_t k = 1;  ///< heads k is at most 2^31 - 1
    DType dtype = DType::f32;
};

struct HeadScores {
    const void* x = nullptr;
    const void* att_row = nullptr;
    const void* att_col = nullptr;
    void* score_row = nullptr;
    void* score_col = nullptr;
};

/// What is null among the last three is not wanted.
struct HeadScoreGrads {
    const void* x = nullptr;
    const void* att_row = nullptr;
    const void* att_col = nullptr;
    const void* grad_score_row = nullptr;
    const void* grad_score_col = nullptr;
    void* grad_x = nullptr;
    void* grad_att_row = nullptr;
    void* grad_att_col = nullptr;
};

/// On a GPU they enqueue on the stream, and the device is current; on the CPU the stream is passed over.
void head_scores(Backend backend, const HeadShape& shape, const HeadScores& arrays, StreamHandle stream);
/// `workspace` has head_score_grads_workspace() bytes.
void head_score_grads(Backend backend, const HeadShape& shape, const HeadScoreGrads& arrays, void* workspace,
                      StreamHandle stream);

/// Of either backend.
std::size_t head_score_grads_workspace(const HeadShape& shape);

/// Of a build with CUDA: head_scores.cu.
void head_scores_on_gpu(const HeadShape& shape, const HeadScores& arrays, StreamHandle stream);
void head_score_grads_on_gpu(const HeadShape& shape, const HeadScoreGrads& arrays, void* workspace,
                             StreamHandle stream);

/// Rows of the workspace, each with a sum for every element of att_row, then of att_col.
std::int32_t head_score_partials(const HeadShape& shape);

}  // namespace gnntune::kernels
