// Owning CUDA streams and events.
#pragma once

#include <memory>

#include "core/gpu/cuda_check.hpp"

namespace gnntune {

/// A non-blocking stream: it does not synchronise with the legacy default stream.
class CudaStream {
public:
    CudaStream() {
        cudaStream_t s = nullptr;
        GNNTUNE_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        stream_.reset(s);
    }
    cudaStream_t get() const { return stream_.get(); }
    void synchronize() const { GNNTUNE_CUDA(cudaStreamSynchronize(get())); }

private:
    struct Deleter {
        using pointer = cudaStream_t;
        void operator()(cudaStream_t s) const { GNNTUNE_CUDA_NOEXCEPT(cudaStreamDestroy(s)); }
    };
    std::unique_ptr<cudaStream_t, Deleter> stream_;
};

/// A timing event.
class CudaEvent {
public:
    CudaEvent() {
        cudaEvent_t e = nullptr;
        GNNTUNE_CUDA(cudaEventCreate(&e));
        event_.reset(e);
    }
    cudaEvent_t get() const { return event_.get(); }
    void record(cudaStream_t stream) const { GNNTUNE_CUDA(cudaEventRecord(get(), stream)); }

private:
    struct Deleter {
        using pointer = cudaEvent_t;
        void operator()(cudaEvent_t e) const { GNNTUNE_CUDA_NOEXCEPT(cudaEventDestroy(e)); }
    };
    std::unique_ptr<cudaEvent_t, Deleter> event_;
};

/// Microseconds from `begin` to `end`; both must have been recorded and reached.
inline double elapsed_us(const CudaEvent& begin, const CudaEvent& end) {
    float ms = 0.0F;
    GNNTUNE_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    return static_cast<double>(ms) * 1000.0;
}

}  // namespace gnntune
