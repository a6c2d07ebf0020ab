#pragma once

#include <cstdint>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/formats.hpp"
#include "core/graph/sample.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::spmm_es_presampled {

/// Which edges a sampled graph gets and what is kept of where they came from.
struct Demand {
    SampleRule rule;
    bool self_loop = false;  ///< the edge i -> i at the end of every row
    bool mean = false;       ///< factors divide by the number of terms
    bool source = false;     ///< weights are gathered at each run
    bool factor = false;     ///< weights are not all as the caller's
};

/// The sampled graph in device memory. kernel.cuh says what the arrays hold.
struct Sampled {
    CsrView view;
    DeviceBuffer<std::int32_t> row_ptr;
    DeviceBuffer<std::int32_t> col_idx;
    DeviceBuffer<std::int32_t> source;  ///< empty unless demanded
    DeviceBuffer<float> factor;         ///< empty unless demanded
};

/// Draws the sample on the GPU. Allocates, and synchronises once for the number of edges.
Sampled draw(const CsrFormat& csr, const Demand& demand, StreamHandle stream);

/// Enqueues the gather of the sampled edges' weights into `weight` [edges]. Throws on a launch error.
void gather(const Sampled& sampled, const float* edge_weight, const float* self_weight, float* weight,
            StreamHandle stream);

}  // namespace gnntune::spmm_es_presampled
