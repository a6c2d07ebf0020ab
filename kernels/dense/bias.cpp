#include "kernels/dense/bias.hpp"

#include <algorithm>

#include "core/common/float16.hpp"
#include "kernels/common/cpu.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/dense/stored.hpp"

namespace gnntune::kernels {
namespace {

constexpr std::int32_t kBiasBlock = 64;

template <typename T>
void add(const BiasShape& s, const T* x, const T* bias, T* y) {
    on_team(std::int64_t{s.n} * s.k, [&](const Team& team) {
        team.for_row_blocks(s.n, kBiasBlock, [&](std::int32_t first, std::int32_t last) {
            for (std::int64_t row = first; row < last; ++row) {
                for (std::int64_t c = 0; c < s.k; ++c) {
                    y[row * s.k + c] = from_float<T>(to_float(x[row * s.k + c]) + to_float(bias[c]));
                }
            }
        });
    });
}

/// The sums of rows [first, last), kTile columns at a time, to k elements.
template <typename T, typename Out>
void sum_rows(const BiasShape& s, const T* grad_y, std::int64_t first, std::int64_t last, Out* sums) {
    constexpr std::int64_t kTile = 64;
    for (std::int64_t begin = 0; begin < s.k; begin += kTile) {
        const std::int64_t count = std::min<std::int64_t>(kTile, s.k - begin);
        float chain[kTile]{}, total[kTile]{};
        for (std::int64_t row = first; row < last; ++row) {
            for (std::int64_t c = 0; c < count; ++c) chain[c] += to_float(grad_y[row * s.k + begin + c]);
            if ((row + 1 - first) % kChain != 0 && row + 1 != last) continue;
            for (std::int64_t c = 0; c < count; ++c) {
                total[c] += chain[c];
                chain[c] = 0;
            }
        }
        for (std::int64_t c = 0; c < count; ++c) sums[begin + c] = from_float<Out>(total[c]);
    }
}

template <typename T>
void grad(const BiasShape& s, const T* grad_y, T* grad_bias, float* sums) {
    const std::int32_t parts = bias_grad_parts(s);
    if (parts == 1) return sum_rows(s, grad_y, 0, s.n, grad_bias);
    on_team(std::int64_t{s.n} * s.k, [&](const Team& team) {
        team.for_row_blocks(parts, 1, [&](std::int32_t part, std::int32_t) {
            const auto begin = [&](std::int64_t p) { return p * s.n / parts; };
            sum_rows(s, grad_y, begin(part), begin(part + 1), sums + std::int64_t{part} * s.k);
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
    // A thread of a GPU's block goes down so many rows: longer would take more than a second launch does. No more parts
    // than keep a GPU busy.
    constexpr std::int64_t kRows = 64;
    constexpr std::int64_t kThreads = 1024;
    constexpr std::int64_t kMost = 512;
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
