// Owning device memory, from the source of the thread that makes it (core/common/memory_source.hpp), else from plain
// cudaMalloc: allocation belongs to preparing, never to running.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/common/host_vector.hpp"
#include "core/common/memory_source.hpp"
#include "core/gpu/cuda_check.hpp"

namespace gnntune {

/// cudaMalloc and cudaFree on the current device.
class PlainDeviceMemory final : public MemorySource {
public:
    void* allocate(std::size_t bytes, std::size_t) override {
        void* p = nullptr;
        const cudaError_t status = cudaMalloc(&p, bytes);
        if (status == cudaErrorMemoryAllocation) {
            (void)cudaGetLastError();
            throw Error(ErrorKind::out_of_memory,
                        "device memory: cannot allocate " + std::to_string(bytes) +
                            " bytes; free memory on the GPU or use a smaller graph or feature dimension");
        }
        GNNTUNE_CUDA(status);
        return p;
    }
    void release(void* memory, std::size_t) noexcept override { GNNTUNE_CUDA_NOEXCEPT(cudaFree(memory)); }
};

inline std::shared_ptr<MemorySource> plain_device_memory() {
    static const auto plain = std::make_shared<PlainDeviceMemory>();
    return plain;
}

/// `size()` elements of T in device memory, aligned to at least 256 bytes. Movable, not copyable. An empty buffer holds
/// no memory. Allocation failure throws ErrorKind::out_of_memory and names the bytes asked for.
template <typename T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "device memory holds only trivially copyable types");

public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(std::size_t n) : size_(n) {
        if (n == 0) return;
        source_ = current_memory(MemoryKind::device);
        if (!source_) source_ = plain_device_memory();
        data_ = static_cast<T*>(source_->allocate(n * sizeof(T), 256));
    }
    DeviceBuffer(DeviceBuffer&& other) noexcept
        : source_(std::move(other.source_)),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        if (this != &other) {
            release();
            source_ = std::move(other.source_);
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
        }
        return *this;
    }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() { release(); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    /// Copies `size()` elements from host memory; returns when the copy has been made.
    void copy_from_host(const T* source) {
        if (size_ == 0) return;
        GNNTUNE_CUDA(cudaMemcpy(data_, source, bytes(), cudaMemcpyHostToDevice));
        // From pageable memory it returns when the driver has the bytes, and other streams do not wait for the rest.
        GNNTUNE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
    }
    /// Copies all elements to host memory; returns when the copy has been made.
    HostVector<T> to_host() const {
        HostVector<T> out(size_);
        if (size_ > 0) GNNTUNE_CUDA(cudaMemcpy(out.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return out;
    }

private:
    void release() noexcept {
        if (data_) source_->release(data_, bytes());
        data_ = nullptr;
    }

    std::shared_ptr<MemorySource> source_;
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Device copy of a host array.
template <typename T>
DeviceBuffer<T> to_device(const T* source, std::size_t n) {
    DeviceBuffer<T> buffer(n);
    buffer.copy_from_host(source);
    return buffer;
}

/// Host copy of an array in device memory, as work enqueued on `stream` before leaves it: synchronises the stream.
template <typename T>
HostVector<T> to_host(const T* source, std::size_t n, cudaStream_t stream) {
    static_assert(std::is_trivially_copyable_v<T>, "device memory holds only trivially copyable types");
    HostVector<T> out(n);
    if (n > 0) GNNTUNE_CUDA(cudaMemcpyAsync(out.data(), source, n * sizeof(T), cudaMemcpyDeviceToHost, stream));
    GNNTUNE_CUDA(cudaStreamSynchronize(stream));
    return out;
}

/// The same for one value.
template <typename T>
T value_of(const T* source, cudaStream_t stream) {
    return to_host(source, 1, stream)[0];
}

}  // namespace gnntune
