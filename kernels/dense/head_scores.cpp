#include "kernels/dense/head_scores.hpp"

#include <algorithm>
#include <type_traits>

#include "core/common/float16.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/partials.hpp"
#include "kernels/dense/stored.hpp"

namespace gnntune::kernels {
namespace {

constexpr std::int32_t kRowBlock = 64;

template <typename T>
float product_of(const T* a, const T* b, std::int32_t count) {
    if constexpr (std::is_same_v<T, float>) return dot(a, b, count);
    float sum = 0.0F;
    for (std::int32_t f = 0; f < count; ++f) sum += to_float(a[f]) * to_float(b[f]);
    return sum;
}

template <typename T>
void scores(const HeadShape& s, const HeadScores& a) {
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    const auto one = [&](const void* att, void* out, std::int64_t row, std::int32_t h) {
        const T* x = stored<T>(a.x) + row * width + std::int64_t{h} * s.k;
        stored<T>(out)[row * s.heads + h] = from_float<T>(product_of(x, stored<T>(att) + std::int64_t{h} * s.k, s.k));
    };
    on_team(std::int64_t{s.n} * width, [&](const Team& team) {
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
    constexpr std::int64_t kTile = 64;  // columns that go down the rows together
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    for (std::int64_t begin = 0; begin < width;) {
        const std::int64_t h = begin / s.k;
        const std::int64_t count = std::min(kTile, (h + 1) * s.k - begin);
        float row_chain[kTile]{}, col_chain[kTile]{}, row_total[kTile]{}, col_total[kTile]{};
        for (std::int64_t row = first; row < last; ++row) {
            const float of_row = to_float(stored<T>(a.grad_score_row)[row * s.heads + h]);
            const float of_col = to_float(stored<T>(a.grad_score_col)[row * s.heads + h]);
            const T* x = stored<T>(a.x) + row * width + begin;
            for (std::int64_t c = 0; c < count; ++c) {
                row_chain[c] += of_row * to_float(x[c]);
                col_chain[c] += of_col * to_float(x[c]);
            }
            if (a.grad_x) {
                T* sum = stored<T>(a.grad_x) + row * width + begin;
                const T* att_row = stored<T>(a.att_row) + begin;
                const T* att_col = stored<T>(a.att_col) + begin;
                for (std::int64_t c = 0; c < count; ++c) {
                    sum[c] =
                        from_float<T>(to_float(sum[c]) + of_row * to_float(att_row[c]) + of_col * to_float(att_col[c]));
                }
            }
            if ((row + 1 - first) % kChain != 0 && row + 1 != last) continue;
            for (std::int64_t c = 0; c < count; ++c) {
                row_total[c] += row_chain[c];
                col_total[c] += col_chain[c];
                row_chain[c] = col_chain[c] = 0;
            }
        }
        std::copy_n(row_total, count, row_sums + begin);
        std::copy_n(col_total, count, col_sums + begin);
        begin += count;
    }
}

template <typename T>
void score_grads(const HeadShape& s, const HeadScoreGrads& a, void* workspace) {
    const std::int64_t width = std::int64_t{s.heads} * s.k;
    const std::int32_t parts = head_score_partials(s);
    const Partials sums(workspace, width);
    on_team(std::int64_t{s.n} * width, [&](const Team& team) {
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
                if (a.grad_att_row) stored<T>(a.grad_att_row)[c] = from_float<T>(row);
                if (a.grad_att_col) stored<T>(a.grad_att_col)[c] = from_float<T>(col);
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
