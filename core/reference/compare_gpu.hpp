// Comparison of a device result with an oracle, on the device: a tuner checks hundreds of configs against one oracle.
#pragma once

#include <cuda_runtime_api.h>

#include "core/gpu/device_buffer.hpp"
#include "core/reference/oracle.hpp"

namespace gnntune::reference {

/// An oracle in device memory.
class DeviceOracle {
public:
    explicit DeviceOracle(const Oracle& oracle);

    /// Same meaning and same arithmetic as reference::compare(); `y` is device memory. Synchronises `stream`.
    Comparison compare(const void* y, Precision precision, cudaStream_t stream) const;

private:
    DeviceBuffer<double> value_;
    DeviceBuffer<float> scale_;
    DeviceBuffer<std::int32_t> chain_;
    std::int64_t row_width_;
    bool index_;
    DType dtype_;
};

}  // namespace gnntune::reference
