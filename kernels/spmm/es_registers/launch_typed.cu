// launch_typed() for every shape; instantiated for each storage type.
#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/storage.hpp"
#include "kernels/spmm/es_registers/kernel.cuh"
#include "kernels/spmm/es_registers/launch.hpp"

namespace gnntune::spmm_es_registers {

template <typename T, int VEC, int FLIGHT, bool WEIGHTED>
void launch_shape(const State& s, const Operands& o, cudaStream_t stream) {
    const CsrFormat& g = *s.graph;
    const int lanes =
        std::min(s.params.group, kernels::next_power_of_two(static_cast<std::int32_t>(kernels::ceil_div(s.k, VEC))));
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(g.n_rows, kThreads / s.params.group));
    es_registers_kernel<T, VEC, FLIGHT, WEIGHTED>
        <<<blocks, kThreads, 0, stream>>>(g.row_ptr, g.col_idx, g.edge_id, elements_of<T>(o.edge_weight),
                                          elements_of<T>(o.self_weight), elements_of<T>(o.x), elements_of<T>(o.y),
                                          g.n_rows, s.k, kernels::rule_of(s.params), s.mean, s.params.group, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <typename T, int VEC, int FLIGHT>
void launch_weighted(const State& s, const Operands& o, cudaStream_t stream) {
    if (s.weighted) {
        launch_shape<T, VEC, FLIGHT, true>(s, o, stream);
    } else {
        launch_shape<T, VEC, FLIGHT, false>(s, o, stream);
    }
}

template <typename T, int VEC>
void launch_flight(const State& s, const Operands& o, cudaStream_t stream) {
    if (s.params.unroll == 8) {
        launch_weighted<T, VEC, 8>(s, o, stream);
    } else {
        launch_weighted<T, VEC, 4>(s, o, stream);
    }
}

template <typename T>
void launch_typed(const State& s, const Operands& o, StreamHandle stream_handle) {
    if (s.graph->n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    const int vec = kernels::vector_width(s.k, {o.x, o.y}, static_cast<int>(16 / sizeof(T)), sizeof(T));
    kernels::with_vector<T>(vec,
                            [&]<int VEC>(std::integral_constant<int, VEC>) { launch_flight<T, VEC>(s, o, stream); });
}

template void launch_typed<float>(const State&, const Operands&, StreamHandle);
template void launch_typed<Float16>(const State&, const Operands&, StreamHandle);
template void launch_typed<BFloat16>(const State&, const Operands&, StreamHandle);

}  // namespace gnntune::spmm_es_registers
