#include "kernels/dense/bias.hpp"

#include <algorithm>
#include <type_traits>

#include "core/common/float16.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/stored.hpp"

namespace gnntune::kernels {
namespace {

constexpr std::int32_t kBiasBlock = 64;    // columns that a thread takes at a time
constexpr std::int32_t kBiasWidth = 1024;  // numbers of narrow rows that are added side by side
constexpr std::int32_t kBiasTile = 64;     // numbers side by side: columns, or narrow rows, that go down together

/// As many rows as fit side by side: narrow rows are short loops.
std::int32_t rows_beside(std::int32_t width, std::int32_t k) {
    return std::max<std::int32_t>(1, width / k);
}

/// y = x + bias, of `count` elements; y may be x.
GNNTUNE_TARGET_CLONES void add_row(const float* x, const float* bias, float* y, std::int64_t count) {
#pragma omp simd
    for (std::int64_t c = 0; c < count; ++c) y[c] = x[c] + bias[c];
}
template <typename T>
void add_row(const T* x, const T* bias, T* y, std::int64_t count) {
    for (std::int64_t c = 0; c < count; ++c) y[c] = from_float<T>(to_float(x[c]) + to_float(bias[c]));
}

template <typename T>
void add(const BiasShape& s, const T* x, const T* bias, T* y) {
    constexpr std::int32_t kBlock = 16384;  // numbers that a thread takes at a time, or a row
    const std::int32_t side = std::clamp(s.n, 1, rows_beside(kBiasWidth, s.k));
    T beside[kBiasWidth];  // the bias once for each of them
    for (std::int32_t i = 0; side > 1 && i < side; ++i) std::copy_n(bias, s.k, beside + i * s.k);
    const T* const added = side > 1 ? beside : bias;
    on_team(std::int64_t{s.n} * s.k, [&](const Team& team) {
        team.for_row_blocks(s.n, rows_beside(kBlock / side, s.k) * side, [&](std::int32_t first, std::int32_t last) {
            for (std::int64_t row = first; row < last; row += side) {
                const std::int64_t rows = std::min<std::int64_t>(side, last - row);
                add_row(x + row * s.k, added, y + row * s.k, rows * s.k);
            }
        });
    });
}

/// sums[c] += x[i * stride + c], over i in [0, rows)
template <typename T>
void add_rows_to(float* sums, const T* x, std::int64_t stride, std::int64_t rows, std::int64_t count) {
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t c = 0; c < count; ++c) sums[c] += to_float(x[i * stride + c]);
    }
}
/// The same of floats, kBiasTile in a row.
GNNTUNE_TARGET_CLONES void add_whole_rows_to(float* sums, const float* x, std::int64_t stride, std::int64_t rows) {
    float held[kBiasTile];
    for (std::int64_t c = 0; c < kBiasTile; ++c) held[c] = sums[c];
    for (std::int64_t i = 0; i < rows; ++i) {
#pragma omp simd
        for (std::int64_t c = 0; c < kBiasTile; ++c) held[c] += x[i * stride + c];
    }
    for (std::int64_t c = 0; c < kBiasTile; ++c) sums[c] = held[c];
}
template <typename T>
void add_tiles_to(float* sums, const T* x, std::int64_t stride, std::int64_t rows, std::int64_t count) {
    if constexpr (std::is_same_v<T, float>) {
        if (count == kBiasTile) return add_whole_rows_to(sums, x, stride, rows);
    }
    add_rows_to(sums, x, stride, rows, count);
}

/// The sums of columns [begin, begin + count) of rows [first, last), to as many elements.
template <typename T, typename Out>
void sum_tile(const BiasShape& s, const T* grad_y, std::int64_t begin, std::int64_t count, std::int64_t first,
              std::int64_t last, Out* sums) {
    const std::int64_t side = rows_beside(kBiasTile, s.k);
    const std::int64_t width = side * count, stride = side * s.k;
    float chain[kBiasTile]{}, total[kBiasTile]{};
    const auto end_chain = [&] {
        for (std::int64_t c = 0; c < width; ++c) {
            total[c] += chain[c];
            chain[c] = 0;
        }
    };
    std::int64_t left = (last - first) / side;  // tiles
    const T* x = grad_y + first * s.k + begin;
    while (left > 0) {
        const std::int64_t tiles = std::min<std::int64_t>(left, kChain);
        add_tiles_to(chain, x, stride, tiles, width);
        end_chain();
        x += tiles * stride;
        left -= tiles;
    }
    add_rows_to(chain, x, s.k, (last - first) % side, count);
    end_chain();
    for (std::int64_t c = 0; c < count; ++c) {
        float sum = 0.0F;
        for (std::int64_t i = 0; i < side; ++i) sum += total[i * count + c];
        sums[c] = from_float<Out>(sum);
    }
}

/// Parts of the rows by themselves, then their sums; of one part its columns are shared out instead.
template <typename T>
void grad(const BiasShape& s, const T* grad_y, T* grad_bias, float* sums) {
    const std::int32_t parts = bias_grad_parts(s);
    const auto columns = [&](std::int64_t begin) { return std::min<std::int64_t>(kBiasTile, s.k - begin); };
    on_team(std::int64_t{s.n} * s.k, [&](const Team& team) {
        if (parts == 1) {
            team.for_row_blocks(s.k, kBiasTile, [&](std::int32_t begin, std::int32_t) {
                sum_tile(s, grad_y, begin, columns(begin), 0, s.n, grad_bias + begin);
            });
            return;
        }
        team.for_row_blocks(parts, 1, [&](std::int32_t part, std::int32_t) {
            const auto first = [&](std::int64_t p) { return p * s.n / parts; };
            for (std::int64_t begin = 0; begin < s.k; begin += kBiasTile) {
                float* const out = sums + std::int64_t{part} * s.k + begin;
                sum_tile(s, grad_y, begin, columns(begin), first(part), first(part + 1), out);
            }
        });
        team.barrier();
        team.for_row_blocks(s.k, kBiasBlock, [&](std::int32_t first, std::int32_t last) {
            for (std::int64_t c = first; c < last; ++c) {
                float sum = 0.0F;
                for (std::int64_t part = 0; part < parts; ++part) sum += sums[part * s.k + c];
                grad_bias[c] = from_float<T>(sum);
            }
        });
    });
}

}  // namespace

std::int32_t bias_grad_parts(const BiasShape& s) {
    // A thread of a GPU's block adds up so many rows: longer would take more than a second launch does, and sums of many
    // like terms have to be sums of sums.
    constexpr std::int64_t kRows = 64;
    constexpr std::int64_t kThreads = 1024;
    constexpr std::int64_t kMost = 16384;
    const std::int32_t vectors = s.k / vector_width(s.k, {});
    const std::int64_t rows = kRows * kThreads / next_power_of_two(std::min(vectors, 32));
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(ceil_div(s.n, rows), 1, kMost));
}

std::size_t bias_grad_workspace(const BiasShape& s) {
    const std::int32_t parts = bias_grad_parts(s);
    return parts == 1 ? 0 : static_cast<std::size_t>(parts) * static_cast<std::size_t>(s.k) * sizeof(float);
}

void bias_add(Backend backend, const BiasShape& shape, const void* x, const void* bias, void* y, StreamHandle stream) {
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) return bias_add_on_gpu(shape, x, bias, y, stream);
#endif
    static_cast<void>(backend);
    static_cast<void>(stream);
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) {
        add<T>(shape, stored<T>(x), stored<T>(bias), stored<T>(y));
    });
}

void bias_grad(Backend backend, const BiasShape& shape, const void* grad_y, void* grad_bias, void* workspace,
               StreamHandle stream) {
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) return bias_grad_on_gpu(shape, grad_y, grad_bias, workspace, stream);
#endif
    static_cast<void>(backend);
    static_cast<void>(stream);
    with_storage(shape.dtype, [&]<typename T>(std::type_identity<T>) {
        grad<T>(shape, stored<T>(grad_y), stored<T>(grad_bias), static_cast<float*>(workspace));
    });
}

}  // namespace gnntune::kernels
