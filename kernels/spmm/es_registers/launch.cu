#include "kernels/spmm/es_registers/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/host.hpp"
#include "kernels/spmm/es_registers/kernel.cuh"

namespace gnntune::spmm_es_registers {
namespace {

struct Run {
    const CsrFormat& g;
    const RegistersParams& p;
    const Operands& o;
    std::int32_t k;
    bool mean;
    cudaStream_t stream;
};

template <int VEC, int FLIGHT, bool WEIGHTED>
void launch_shape(const Run& r) {
    const int lanes =
        std::min(r.p.group, kernels::next_power_of_two(static_cast<std::int32_t>(kernels::ceil_div(r.k, VEC))));
    const auto blocks = static_cast<unsigned>(kernels::ceil_div(r.g.n_rows, kThreads / r.p.group));
    es_registers_kernel<VEC, FLIGHT, WEIGHTED><<<blocks, kThreads, 0, r.stream>>>(
        r.g.row_ptr, r.g.col_idx, r.g.edge_id, r.o.edge_weight, r.o.self_weight, r.o.x, r.o.y, r.g.n_rows, r.k,
        kernels::rule_of(r.p), r.mean, r.p.group, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <int VEC, int FLIGHT>
void launch_weighted(const Run& r, bool weighted) {
    if (weighted) {
        launch_shape<VEC, FLIGHT, true>(r);
    } else {
        launch_shape<VEC, FLIGHT, false>(r);
    }
}

template <int VEC>
void launch_flight(const Run& r, bool weighted) {
    if (r.p.unroll == 8) {
        launch_weighted<VEC, 8>(r, weighted);
    } else {
        launch_weighted<VEC, 4>(r, weighted);
    }
}

}  // namespace

void launch(const CsrFormat& g, const RegistersParams& p, std::int32_t k, bool weighted, bool mean, const Operands& o,
            StreamHandle stream) {
    if (g.n_rows == 0) return;
    const Run r{g, p, o, k, mean, static_cast<cudaStream_t>(stream)};
    switch (kernels::vector_width(k, {o.x, o.y})) {
        case 4:
            return launch_flight<4>(r, weighted);
        case 2:
            return launch_flight<2>(r, weighted);
        default:
            return launch_flight<1>(r, weighted);
    }
}

}  // namespace gnntune::spmm_es_registers
