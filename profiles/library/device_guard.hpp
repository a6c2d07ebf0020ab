// Makes a device current for the duration of a call and gives the caller his own back.
#pragma once

#include "core/registry/device.hpp"
#include "core/registry/variant.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/cuda_check.hpp"
#endif

namespace gnntune::library {

#if GNNTUNE_WITH_CUDA

class DeviceGuard {
public:
    /// Does nothing for the CPU, and costs one query where the device is current already.
    explicit DeviceGuard(const Device& device) {
        if (device.backend != Backend::cuda) return;
        int current = 0;
        GNNTUNE_CUDA(cudaGetDevice(&current));
        if (current == device.ordinal) return;
        GNNTUNE_CUDA(cudaSetDevice(device.ordinal));
        previous_ = current;
    }
    ~DeviceGuard() {
        if (previous_ >= 0) GNNTUNE_CUDA_NOEXCEPT(cudaSetDevice(previous_));
    }
    DeviceGuard(const DeviceGuard&) = delete;
    DeviceGuard& operator=(const DeviceGuard&) = delete;

private:
    int previous_ = -1;
};

/// Throws ErrorKind::invalid_argument if `stream` is being captured, before the capture is spoilt.
inline void refuse_capture(const Device& device, StreamHandle stream, const char* what) {
    if (device.backend != Backend::cuda) return;
    const auto s = static_cast<cudaStream_t>(stream);
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    GNNTUNE_CUDA(cudaStreamIsCapturing(s, &capture));
    if (capture != cudaStreamCaptureStatusNone) {
        throw invalid_argument(std::string(what) +
                               " allocates and may synchronise, so it cannot be captured; call it before the capture");
    }
}

/// Waits for `stream`. Throws as refuse_capture().
inline void wait_for(const Device& device, StreamHandle stream, const char* what) {
    if (device.backend != Backend::cuda) return;
    refuse_capture(device, stream, what);
    GNNTUNE_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

/// Waits for `stream`, which is not being captured, while others may be.
inline void wait_beside_captures(StreamHandle stream) {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    GNNTUNE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    const cudaError_t status = cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
    GNNTUNE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    GNNTUNE_CUDA(status);
}

#else

class DeviceGuard {
public:
    explicit DeviceGuard(const Device&) {}
    ~DeviceGuard() {}  // not trivial, so that a guard does not read as an unused variable
};

inline void refuse_capture(const Device&, StreamHandle, const char*) {}
inline void wait_for(const Device&, StreamHandle, const char*) {}
inline void wait_beside_captures(StreamHandle) {}

#endif

}  // namespace gnntune::library
