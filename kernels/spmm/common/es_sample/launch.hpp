// Host side of ES-SpMM's shared-memory kernel (kernel.cuh): what a launch needs, and whether it can be made.
#pragma once

#include <cstdint>

#include "core/graph/formats.hpp"
#include "core/graph/sample.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// Threads of a block, which does kEsThreads / group rows at a time: groups of at least a warp, and narrower ones.
inline constexpr int kEsThreads = 256;
inline constexpr int kEsNarrowThreads = 128;

/// Work division of a launch, in powers of two: a division costs as much as the gathers of a short row.
struct EsShape {
    int group_shift = 5;  ///< log2 of the threads of a row
    int lane_shift = 5;   ///< log2 of the threads that share an edge
    int chunk = 64;       ///< samples of a row that shared memory holds at a time
};

/// What a plan of the kernel keeps.
struct EsPlan {
    std::shared_ptr<const CsrFormat> csr;
    SampleRule rule;
    int group = 32;  ///< threads of a row
    std::int32_t k = 0;
    bool weighted = false;
    bool mean = false;
    DType dtype = DType::f32;
};

/// Enqueues one run on the device that is current. Throws on a launch error.
void launch_es_sample(const EsPlan& plan, const Operands& operands, StreamHandle stream);

/// The same for a plan whose dtype is T; there is a translation unit for each.
template <typename T>
void launch_es_sample_typed(const EsPlan& plan, const Operands& operands, StreamHandle stream);

}  // namespace gnntune::kernels
