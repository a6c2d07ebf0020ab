// Counting features on the GPU: the same integers as count_features(), bit for bit.
#pragma once

#include <cuda_runtime_api.h>

#include "core/features/features.hpp"

namespace gnntune {

/// Counts of a CSR graph whose arrays are in device memory. Works on `stream` and waits for it. Takes 16 bytes of
/// device memory per edge for up to 2^27 edges (or for the heaviest window of 16 rows, where that has more), and frees
/// them.
FeatureCounts count_features_gpu(const CsrView& device_csr, cudaStream_t stream);

}  // namespace gnntune
