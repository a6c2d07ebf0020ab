// launch_es_sample_typed() for every shape; instantiated for each storage type.
#include <algorithm>
#include <bit>

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/spmm/common/es_sample/narrow.cuh"

namespace gnntune::kernels {

inline int log2_of(int power) {
    return std::countr_zero(static_cast<unsigned>(power));
}

/// Samples of a row in shared memory at a time: at most 16 KiB a block with the sums of parts, which leaves the number
/// of blocks on an SM to their registers.
constexpr int chunk_of(int group) {
    return group <= 32 ? 8 * group : 4 * group;
}

template <typename T, int VEC, bool WEIGHTED, int FLIGHT>
void launch_wide(const EsPlan& p, int lanes, const Operands& o, cudaStream_t stream) {
    const EsShape shape{log2_of(p.group), log2_of(lanes), std::min(p.rule.width, chunk_of(p.group))};
    const int slots = kEsThreads / p.group;
    const auto blocks = static_cast<unsigned>(ceil_div(p.csr->n_rows, slots));
    const auto shared = static_cast<std::size_t>(slots) * static_cast<std::size_t>(shape.chunk) * (WEIGHTED ? 8 : 4) +
                        (p.group > 32 ? std::size_t{kEsThreads} * VEC * 4 : 0);
    es_sample_kernel<T, VEC, WEIGHTED, FLIGHT><<<blocks, kEsThreads, shared, stream>>>(
        p.csr->row_ptr, p.csr->col_idx, p.csr->edge_id, elements_of<T>(o.edge_weight), elements_of<T>(o.self_weight),
        elements_of<T>(o.x), elements_of<T>(o.y), p.csr->n_rows, p.k, p.rule, p.mean, shape);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC, bool WEIGHTED>
void launch_narrow(const EsPlan& p, int lanes, const Operands& o, cudaStream_t stream) {
    const EsShape shape{log2_of(p.group), log2_of(lanes), 0};
    const auto blocks = static_cast<unsigned>(ceil_div(p.csr->n_rows, kEsNarrowThreads / p.group));
    es_narrow_kernel<T, VEC, WEIGHTED><<<blocks, kEsNarrowThreads, 0, stream>>>(
        p.csr->row_ptr, p.csr->col_idx, p.csr->edge_id, elements_of<T>(o.edge_weight), elements_of<T>(o.self_weight),
        elements_of<T>(o.x), elements_of<T>(o.y), p.csr->n_rows, p.k, p.rule, p.mean, shape);
    GNNTUNE_CUDA(cudaGetLastError());
}

// Where one part takes all samples of a row and there are many, it keeps more of them in flight; several parts do so
// together.
template <typename T, int VEC, bool WEIGHTED>
void launch_width(const EsPlan& p, const Operands& o, cudaStream_t stream) {
    const int lanes = std::min(p.group, next_power_of_two(static_cast<std::int32_t>(ceil_div(p.k, VEC))));
    if (p.group < 32) {
        launch_narrow<T, VEC, WEIGHTED>(p, lanes, o, stream);
    } else if (lanes == p.group && p.rule.width > 64) {
        launch_wide<T, VEC, WEIGHTED, 8>(p, lanes, o, stream);
    } else {
        launch_wide<T, VEC, WEIGHTED, 4>(p, lanes, o, stream);
    }
}

template <typename T, bool WEIGHTED>
void launch_weighted(const EsPlan& p, const Operands& o, cudaStream_t stream) {
    switch (vector_width(p.k, {o.x, o.y}, static_cast<int>(16 / sizeof(T)), sizeof(T))) {
        case 8:
            if constexpr (sizeof(T) == 2) launch_width<T, 8, WEIGHTED>(p, o, stream);
            return;
        case 4:
            return launch_width<T, 4, WEIGHTED>(p, o, stream);
        case 2:
            return launch_width<T, 2, WEIGHTED>(p, o, stream);
        default:
            return launch_width<T, 1, WEIGHTED>(p, o, stream);
    }
}

template <typename T>
void launch_es_sample_typed(const EsPlan& p, const Operands& o, StreamHandle stream_handle) {
    if (p.csr->n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    if (p.weighted) {
        launch_weighted<T, true>(p, o, stream);
    } else {
        launch_weighted<T, false>(p, o, stream);
    }
}

template void launch_es_sample_typed<float>(const EsPlan&, const Operands&, StreamHandle);
template void launch_es_sample_typed<Float16>(const EsPlan&, const Operands&, StreamHandle);
template void launch_es_sample_typed<BFloat16>(const EsPlan&, const Operands&, StreamHandle);

}  // namespace gnntune::kernels
