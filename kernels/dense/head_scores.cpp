#include "kernels/dense/head_scores.hpp"

#include <algorithm>

#include "core/common/float16.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/partials.hpp"

namespace gnntune::kernels {
namespace {

constexpr std::int32_t kRowBlock = 64;

template <typename T>
float dot(const T* a, const T* b, std::int32_t count) {
    float sum = 0.0F;
    for (std::int32_t f = 0; f < count; ++f) sum += to_float(a[f]) * to_float(b[f]);
    return sum;
}

template <typename T>
const T* typed(const void* data) {
    return static_cast<const T*>(data);
}
template <typename T>
T* typed(void* data) {
    return static_cast<T*>(data);
}

template <typename T>
void scores(const HeadShape& s, const HeadScores& a) {
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    const auto one = [&](const void* att, void* out, std::int64_t row, std::int32_t h) {
        const T* x = typed<T>(a.x) + row * width + std::int64_t{h} * s.k;
        typed<T>(out)[row * s.heads + h] = from_float<T>(dot(x, typed<T>(att) + std::int64_t{h} * s.k, s.k));
    };
    on_team(2 * s.n * width, [&](const Team& team) {
        team.for_row_blocks(s.n, kRowBlock, [&](std::int32_t first, std::int32_t last) {
            for (std::int32_t row = first; row < last; ++row) {
                for (std::int32_t h = 0; h < s.heads; ++h) {
                    one(a.att_row, a.score_row, row, h);
                    one(a.att_col, a.score_col, row, h);
                }
            }
        });
    });
}

/// grad_x += what rows [first, last) of the scores' gradients add to it; their sums with x to `row_sums`, `col_sums`.
template <typename T>
void pass(const HeadShape& s, const HeadScoreGrads& a, std::int32_t first, std::int32_t last, float* row_sums,
          float* col_sums) {
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    std::fill(row_sums, row_sums + width, 0.0F);
    std::fill(col_sums, col_sums + width, 0.0F);
    for (std::int32_t row = first; row < last; ++row) {
        for (std::int32_t h = 0; h < s.heads; ++h) {
            const std::int64_t score = std::int64_t{row} * s.heads + h;
            const float of_row = to_float(typed<T>(a.grad_score_row)[score]);
            const float of_col = to_float(typed<T>(a.grad_score_col)[score]);
            const std::int64_t begin = std::int64_t{h} * s.k;
            for (std::int64_t c = begin; c < begin + s.k; ++c) {
                const std::int64_t at = row * width + c;
                const float x = to_float(typed<T>(a.x)[at]);
                row_sums[c] += of_row * x;
                col_sums[c] += of_col * x;
                if (!a.grad_x) continue;
                T& sum = typed<T>(a.grad_x)[at];
                sum = from_float<T>(to_float(sum) + of_row * to_float(typed<T>(a.att_row)[c]) +
                                    of_col * to_float(typed<T>(a.att_col)[c]));
            }
        }
    }
}

template <typename T>
void score_grads(const HeadShape& s, const HeadScoreGrads& a, void* workspace) {
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    const std::int32_t parts = head_score_partials(s);
    const Partials sums(workspace, width);
    on_team(4 * s.n * width, [&](const Team& team) {
        team.for_row_blocks(parts, 1, [&](std::int32_t part, std::int32_t) {
            const auto begin = [&](std::int64_t p) { return static_cast<std::int32_t>(p * s.n / parts); };
            pass<T>(s, a, begin(part), begin(part + 1), sums.row(part), sums.col(part));
        });
        team.barrier();
        team.for_row_blocks(static_cast<std::int32_t>(width), kRowBlock, [&](std::int32_t first, std::int32_t last) {
            for (std::int32_t c = first; c < last; ++c) {
                float row = 0.0F;
                float col = 0.0F;
                for (std::int32_t part = 0; part < parts; ++part) {
                    row += sums.row(part)[c];
                    col += sums.col(part)[c];
                }
                if (a.grad_att_row) typed<T>(a.grad_att_row)[c] = from_float<T>(row);
                if (a.grad_att_col) typed<T>(a.grad_att_col)[c] = from_float<T>(col);
            }
        });
    });
}

}  // namespace

std::int32_t head_score_partials(const HeadShape& s) {
    // A block of threads sums up its rows one after the other, four at least; many columns are more blocks already.
    constexpr std::int64_t kMost = 1024;
    constexpr std::int64_t kElements = 4096;
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    const std::int64_t most = std::max<std::int64_t>(1, kMost * kElements / std::max(width, kElements));
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(ceil_div(s.n * width, kElements), 1, most));
}

std::size_t head_score_grads_workspace(const HeadShape& s) {
    return Partials::bytes(head_score_partials(s), std::int64_t{s.heads} * s.k);
}

void head_scores(Backend backend, const HeadShape& shape, const HeadScores& arrays, StreamHandle stream) {
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) return head_scores_on_gpu(shape, arrays, stream);
#endif
    static_cast<void>(backend);
    static_cast<void>(stream);
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) { scores<T>(shape, arrays); });
}

void head_score_grads(Backend backend, const HeadShape& shape, const HeadScoreGrads& arrays, void* workspace,
                      StreamHandle stream) {
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) return head_score_grads_on_gpu(shape, arrays, workspace, stream);
#endif
    static_cast<void>(backend);
    static_cast<void>(stream);
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) { score_grads<T>(shape, arrays, workspace); });
}

}  // namespace gnntune::kernels
