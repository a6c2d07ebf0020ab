// What both GPU clocks share: a burst of calls behind a delay, so that the host is ahead of the device, and the buffer
// whose writing flushes L2.
#pragma once

#include "core/gpu/device_buffer.hpp"
#include "core/registry/device.hpp"
#include "tuner/measuring/gpu_tools.hpp"

namespace gnntune::tuner {

class GpuBurst {
public:
    GpuBurst(const Device& device, cudaStream_t stream)
        : stream_(stream), flush_bytes_(static_cast<std::size_t>(device.l2_bytes) * 2 / 16 * 16) {}

    /// Enqueues the delay in front of `count` calls.
    void begin(int count) const { enqueue_delay(stream_, 20 + kMicrosecondsPerCall * count); }

    /// Enqueues a flush of L2 by writing twice its size.
    void flush() {
        if (buffer_.size() == 0) buffer_ = DeviceBuffer<unsigned char>(flush_bytes_);
        enqueue_flush(stream_, buffer_.data(), flush_bytes_);
    }
    cudaStream_t stream() const { return stream_; }

private:
    // Host time to enqueue one call of up to four kernels.
    static constexpr int kMicrosecondsPerCall = 15;

    cudaStream_t stream_;
    std::size_t flush_bytes_;
    DeviceBuffer<unsigned char> buffer_;
};

}  // namespace gnntune::tuner
