// Values in device memory, off the place where an allocation begins.
#pragma once

#include <cstddef>
#include <vector>

#include "core/gpu/cuda_check.hpp"
#include "core/gpu/device_buffer.hpp"

namespace gnntune::kernels {

/// Values at a place that is `off` elements behind an aligned one.
template <typename T>
class ShiftedArray {
public:
    ShiftedArray(const std::vector<T>& values, std::size_t off) : off_(off), size_(values.size()) {
        std::vector<T> all(off, T{});
        all.insert(all.end(), values.begin(), values.end());
        all.push_back(T{});
        memory_ = to_device(all.data(), all.size());
    }
    T* data() { return memory_.data() + off_; }
    void copy_to(std::vector<T>& out) {
        if (size_ > 0) GNNTUNE_CUDA(cudaMemcpy(out.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    }

private:
    std::size_t off_;
    std::size_t size_;
    DeviceBuffer<T> memory_;
};

}  // namespace gnntune::kernels
