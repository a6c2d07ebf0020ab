// The fingerprint of a graph in device memory, equal to the host's (core/graph/fingerprint.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include "core/graph/fingerprint.hpp"

namespace gnntune {

/// Arrays in device memory. Works on `stream` and waits for it.
Fingerprint fingerprint_gpu(const CsrView& device_csr, cudaStream_t stream);
Fingerprint fingerprint_gpu(const CooView& device_coo, cudaStream_t stream);

}  // namespace gnntune
