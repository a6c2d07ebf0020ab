// Host side of ES-SpMM's shared-memory kernel (kernel.cuh): what a launch needs, and whether it can be made.
#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/graph/sample.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// Threads of a block: 8, 4 or 2 rows at a time for groups of 32, 64 or 128.
inline constexpr int kEsThreads = 256;

/// What a plan of the kernel keeps.
struct EsPlan {
    std::shared_ptr<const CsrFormat> csr;
    SampleRule rule;
    int group = 32;  ///< threads of a row
    std::int32_t k = 0;
    bool weighted = false;
    bool mean = false;
};

/// Dynamic shared memory of a block, for the widest vectors.
constexpr std::int64_t es_shared_bytes(const SampleRule& rule, int group, bool weighted) {
    const std::int64_t sample = std::int64_t{kEsThreads / group} * rule.width * (weighted ? 8 : 4);
    return sample + (group > 32 ? std::int64_t{kEsThreads} * 16 : 0);
}

/// Refuses samples that do not fit into the shared memory of the device.
Verdict require_es_shared_memory(const Query& query, const SampleRule& rule, int group);

/// Lifts the limit on dynamic shared memory where `plan` needs more than CUDA allows by default. Call when preparing.
void prepare_es_sample(const EsPlan& plan, const Device& device);

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch_es_sample(const EsPlan& plan, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::kernels
