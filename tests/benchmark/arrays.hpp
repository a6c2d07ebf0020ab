// Arrays in the memory of the backend that is here.
#pragma once

#include <cstddef>
#include <vector>

#include "core/registry/device.hpp"
#if GNNTUNE_WITH_CUDA
#include <cuda_runtime_api.h>

#include "core/gpu/cuda_check.hpp"
#include "core/gpu/device_buffer.hpp"
#endif

namespace gnntune::bench {

template <typename T>
class Array {
public:
    Array(const T* values, std::size_t count) : Array(std::vector<T>(values, values + count)) {}
    explicit Array(std::vector<T> values) {
#if GNNTUNE_WITH_CUDA
        if (cuda_device_count() > 0) {
            device_ = to_device(values.data(), values.size());
            return;
        }
#endif
        host_ = std::move(values);
    }

    const T* data() const {
        return writable();
    }
    T* writable() const {
#if GNNTUNE_WITH_CUDA
        if (device_.size() > 0) return const_cast<T*>(device_.data());
#endif
        return const_cast<T*>(host_.data());
    }

private:
    std::vector<T> host_;
#if GNNTUNE_WITH_CUDA
    DeviceBuffer<T> device_;
#endif
};

inline void wait_for_device() {
#if GNNTUNE_WITH_CUDA
    if (cuda_device_count() > 0) GNNTUNE_CUDA(cudaDeviceSynchronize());
#endif
}

}  // namespace gnntune::bench
