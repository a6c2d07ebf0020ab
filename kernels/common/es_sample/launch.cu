#include "kernels/common/es_sample/launch.hpp"

#include "core/gpu/cuda_check.hpp"
#include "kernels/common/es_sample/kernel.cuh"
#include "kernels/common/host.hpp"

namespace gnntune::kernels {
namespace {

/// Dynamic shared memory that a kernel may ask for without further ado.
constexpr std::int64_t kDefaultSharedLimit = 48 << 10;

template <int VEC, bool WEIGHTED>
void launch_width(const EsPlan& p, const Operands& o, cudaStream_t stream) {
    const int lanes = std::min(p.group, next_power_of_two(static_cast<std::int32_t>(ceil_div(p.k, VEC))));
    const auto blocks = static_cast<unsigned>(ceil_div(p.csr->n_rows, kEsThreads / p.group));
    const auto shared = static_cast<std::size_t>(es_shared_bytes(p.rule, p.group, WEIGHTED));
    es_sample_kernel<VEC, WEIGHTED><<<blocks, kEsThreads, shared, stream>>>(
        p.csr->row_ptr, p.csr->col_idx, p.csr->edge_id, o.edge_weight, o.self_weight, o.x, o.y, p.csr->n_rows, p.k,
        p.rule, p.mean, p.group, lanes);
    GNNTUNE_CUDA(cudaGetLastError());
}

template <bool WEIGHTED>
void launch_weighted(const EsPlan& p, const Operands& o, cudaStream_t stream) {
    switch (vector_width(p.k, {o.x, o.y})) {
        case 4:
            return launch_width<4, WEIGHTED>(p, o, stream);
        case 2:
            return launch_width<2, WEIGHTED>(p, o, stream);
        default:
            return launch_width<1, WEIGHTED>(p, o, stream);
    }
}

// The limit belongs to the kernel and not to the plan: a plan that set what it needs itself would take it away from
// another. So every plan sets what the device has.
template <int VEC, bool WEIGHTED>
void allow(int bytes) {
    GNNTUNE_CUDA(
        cudaFuncSetAttribute(es_sample_kernel<VEC, WEIGHTED>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace

Verdict require_es_shared_memory(const Query& q, const SampleRule& rule, int group) {
    const std::int64_t needed = es_shared_bytes(rule, group, q.problem.weighted);
    if (q.device && needed > q.device->shared_memory_per_block) {
        return Verdict::no("S=" + std::to_string(rule.width) + " with group=" + std::to_string(group) + " needs " +
                           std::to_string(needed) + " bytes of shared memory in a block, this device has " +
                           std::to_string(q.device->shared_memory_per_block));
    }
    return Verdict::yes();
}

void prepare_es_sample(const EsPlan& p, const Device& device) {
    if (es_shared_bytes(p.rule, p.group, p.weighted) <= kDefaultSharedLimit) return;
    const auto limit = static_cast<int>(device.shared_memory_per_block);
    if (p.weighted) {
        allow<1, true>(limit), allow<2, true>(limit), allow<4, true>(limit);
    } else {
        allow<1, false>(limit), allow<2, false>(limit), allow<4, false>(limit);
    }
}

void launch_es_sample(const EsPlan& p, const Operands& o, StreamHandle stream_handle) {
    if (p.csr->n_rows == 0) return;
    auto* stream = static_cast<cudaStream_t>(stream_handle);
    if (p.weighted) {
        launch_weighted<true>(p, o, stream);
    } else {
        launch_weighted<false>(p, o, stream);
    }
}

}  // namespace gnntune::kernels
