// head_scores.hpp on a GPU. Scores: a group of lanes computes both dot products of one head of one row, in one pass over
// x. Gradients: one pass over x and grad_x, in which a thread keeps its columns and goes down the rows; a block leaves its
// sums in the workspace, and a second kernel adds the blocks' up. No atomics.
#include <algorithm>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/elements.cuh"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/head_scores.hpp"
#include "kernels/dense/partials.hpp"
#include "kernels/dense/stored.hpp"

namespace gnntune::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kColumns = 32;  // of a block that adds up what blocks have left
constexpr int kLines = 32;    // threads for each of them

template <typename T>
struct Scores {
    const T* x;
    const T* att_row;
    const T* att_col;
    T* score_row;
    T* score_col;
};

/// Group of `lanes` threads -> head row % heads of vertex row / heads, of `rows` = n heads.
template <typename T, int VEC>
__global__ void scores_kernel(Scores<T> a, std::int64_t rows, std::int32_t heads, std::int32_t k, int lanes) {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const std::int64_t row = group_index(lanes);
    const std::int64_t att = (row % heads) * k;
    float of_row = 0.0F;
    float of_col = 0.0F;
    for (std::int64_t f = lane * VEC; row < rows && f < k; f += lanes * VEC) {
        const Pack<T, VEC> x = load_pack<VEC>(a.x + row * k + f);
        of_row = dot(of_row, x, load_pack<VEC>(a.att_row + att + f));
        of_col = dot(of_col, x, load_pack<VEC>(a.att_col + att + f));
    }
    // Threads beyond the last row are still here.
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
        of_row += __shfl_xor_sync(0xffffffffU, of_row, offset);
        of_col += __shfl_xor_sync(0xffffffffU, of_col, offset);
    }
    if (lane != 0 || row >= rows) return;
    a.score_row[row] = narrowed<T>(of_row);
    a.score_col[row] = narrowed<T>(of_col);
}

template <typename T>
struct Grads {
    const T* x;
    const T* att_row;
    const T* att_col;
    const T* grad_score_row;
    const T* grad_score_col;
    T* grad_x;
};

/// grad_x[at...] += of_row att_row + of_col att_col, by the one thread that touches it.
template <int VEC, typename T>
__device__ __forceinline__ void add_scaled(T* grad_x, float of_row, const Vec<VEC>& att_row, float of_col,
                                           const Vec<VEC>& att_col) {
    using Word = typename WordOf<static_cast<int>(sizeof(T)) * VEC>::type;
    const Word word = *reinterpret_cast<const Word*>(grad_x);
    Pack<T, VEC> sum = reinterpret_cast<const Pack<T, VEC>&>(word);
#pragma unroll
    for (int i = 0; i < VEC; ++i) {
        const float both = fmaf(of_row, att_row.v[i], fmaf(of_col, att_col.v[i], widened(sum.v[i])));
        sum.v[i] = narrowed<T>(both);
    }
    *reinterpret_cast<Word*>(grad_x) = reinterpret_cast<const Word&>(sum);
}

/// Block c parts + p -> rows p teams + team, then `parts` teams further, and so on; of each the c-th `span` vectors. Of
/// these a team has a thread for each. With `sums` those over the block's rows go to part p of `partials`.
template <typename T, int VEC>
__global__ void grads_kernel(Grads<T> a, std::int32_t n, std::int32_t heads, std::int32_t k, std::int32_t vectors,
                             int span, std::int32_t parts, Partials partials, bool sums) {
    __shared__ float left[2][kThreads * VEC];
    const int teams = kThreads / span;
    const int team = static_cast<int>(threadIdx.x) / span;
    const std::int64_t part = blockIdx.x % static_cast<unsigned>(parts);
    const std::int64_t first_vector = std::int64_t{blockIdx.x / static_cast<unsigned>(parts)} * span;
    const std::int64_t vector = first_vector + static_cast<int>(threadIdx.x) % span;
    const bool here = team < teams && vector < vectors;
    const std::int64_t width = std::int64_t{heads} * k;
    const std::int64_t column = vector * VEC;
    const std::int64_t head = column / k;
    Vec<VEC> row_sum{};
    Vec<VEC> col_sum{};
    if (here) {
        Vec<VEC> att_row{};
        Vec<VEC> att_col{};
        if (a.grad_x) {
            att_row = widened(load_pack<VEC>(a.att_row + column));
            att_col = widened(load_pack<VEC>(a.att_col + column));
        }
        for (std::int64_t row = part * teams + team; row < n; row += std::int64_t{parts} * teams) {
            const float of_row = load_value(a.grad_score_row + row * heads + head);
            const float of_col = load_value(a.grad_score_col + row * heads + head);
            if (sums) {
                const Pack<T, VEC> x = load_pack<VEC>(a.x + row * width + column);
                fma(row_sum, of_row, x);
                fma(col_sum, of_col, x);
            }
            if (a.grad_x) add_scaled<VEC>(a.grad_x + row * width + column, of_row, att_row, of_col, att_col);
        }
    }
    if (!sums) return;
    if (team < teams) {
#pragma unroll
        for (int i = 0; i < VEC; ++i) {
            left[0][static_cast<int>(threadIdx.x) * VEC + i] = row_sum.v[i];
            left[1][static_cast<int>(threadIdx.x) * VEC + i] = col_sum.v[i];
        }
    }
    __syncthreads();
    const int columns = span * VEC;
    const std::int64_t first = first_vector * VEC;
    for (int c = static_cast<int>(threadIdx.x); c < columns && first + c < width; c += kThreads) {
        float row = 0.0F;
        float col = 0.0F;
        for (int t = 0; t < teams; ++t) {
            row += left[0][t * columns + c];
            col += left[1][t * columns + c];
        }
        partials.row(part)[first + c] = row;
        partials.col(part)[first + c] = col;
    }
}

/// Block -> kColumns of the 2 width columns of `parts` rows: their sums, to grad_att_row, then grad_att_col.
template <typename T>
__global__ void add_up_kernel(const float* partials, std::int32_t parts, std::int64_t width, T* grad_att_row,
                              T* grad_att_col) {
    __shared__ float left[kLines][kColumns];
    const std::int64_t column = std::int64_t{blockIdx.x} * kColumns + threadIdx.x;
    float sum = 0.0F;
    if (column < 2 * width) {
        for (std::int32_t part = static_cast<std::int32_t>(threadIdx.y); part < parts; part += kLines) {
            sum += partials[part * 2 * width + column];
        }
    }
    left[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= 2 * width) return;
    sum = 0.0F;
    for (int i = 0; i < kLines; ++i) sum += left[i][threadIdx.x];
    if (column < width) {
        if (grad_att_row) grad_att_row[column] = narrowed<T>(sum);
    } else {
        if (grad_att_col) grad_att_col[column - width] = narrowed<T>(sum);
    }
}

template <typename T>
void launch_scores(const HeadShape& s, const HeadScores& given, cudaStream_t stream) {
    const Scores<T> a{stored<T>(given.x), stored<T>(given.att_row), stored<T>(given.att_col),
                      stored<T>(given.score_row), stored<T>(given.score_col)};
    const std::int64_t rows = std::int64_t{s.n} * s.heads;
    const int vec = vector_width(s.k, {a.x, a.att_row, a.att_col}, static_cast<int>(16 / sizeof(T)), sizeof(T));
    const int lanes = next_power_of_two(static_cast<std::int32_t>(std::min<std::int64_t>(ceil_div(s.k, vec), kWarp)));
    const unsigned blocks = blocks_for(rows, kThreads / lanes);
    with_vector<T>(vec, [&](auto width) {
        scores_kernel<T, width()><<<blocks, kThreads, 0, stream>>>(a, rows, s.heads, s.k, lanes);
    });
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T>
void launch_grads(const HeadShape& s, const HeadScoreGrads& given, void* workspace, cudaStream_t stream) {
    const Grads<T> a{stored<T>(given.x),
                     stored<T>(given.att_row),
                     stored<T>(given.att_col),
                     stored<T>(given.grad_score_row),
                     stored<T>(given.grad_score_col),
                     stored<T>(given.grad_x)};
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    const bool sums = given.grad_att_row || given.grad_att_col;
    const std::int32_t parts = head_score_partials(s);
    const int vec =
        vector_width(s.k, {a.x, a.att_row, a.att_col, a.grad_x}, static_cast<int>(16 / sizeof(T)), sizeof(T));
    const auto vectors = static_cast<std::int32_t>(width / vec);
    const int span = std::min<std::int32_t>(vectors, kThreads);
    const Partials partials(workspace, width);
    const auto blocks = static_cast<unsigned>(parts) * blocks_for(vectors, span);
    with_vector<T>(vec, [&](auto elements) {
        grads_kernel<T, elements()>
            <<<blocks, kThreads, 0, stream>>>(a, s.n, s.heads, s.k, vectors, span, parts, partials, sums);
    });
    GNNTUNE_CUDA(cudaGetLastError());
    if (!sums) return;
    add_up_kernel<T><<<blocks_for(2 * width, kColumns), dim3(kColumns, kLines), 0, stream>>>(
        partials.row(0), parts, width, stored<T>(given.grad_att_row), stored<T>(given.grad_att_col));
    GNNTUNE_CUDA(cudaGetLastError());
}

}  // namespace

void head_scores_on_gpu(const HeadShape& shape, const HeadScores& arrays, StreamHandle stream) {
    if (shape.n == 0) return;
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_scores<T>(shape, arrays, static_cast<cudaStream_t>(stream));
    });
}

void head_score_grads_on_gpu(const HeadShape& shape, const HeadScoreGrads& arrays, void* workspace,
                             StreamHandle stream) {
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) {
        launch_grads<T>(shape, arrays, workspace, static_cast<cudaStream_t>(stream));
    });
}

}  // namespace gnntune::kernels
