#include "tuner/measuring/array.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/common/error.hpp"
#include "core/common/memory_source.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#endif

namespace gnntune::tuner {

Array::Array(Backend backend, std::size_t bytes) : backend_(backend), bytes_(bytes) {
    if (bytes == 0) return;
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) {
        auto buffer = std::make_shared<DeviceBuffer<unsigned char>>(bytes);
        data_ = buffer->data();
        owner_ = std::move(buffer);
        return;
    }
#endif
    const std::size_t rounded = (bytes + 255) / 256 * 256;
    if (const auto source = current_memory(MemoryKind::host)) {
        // Sources of host memory need not serve more than 64.
        const std::size_t held = rounded + 256;
        void* const memory = source->allocate(held, 64);
        owner_ = std::shared_ptr<void>(memory, [source, held](void* p) { source->release(p, held); });
        const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % 256;
        data_ = static_cast<unsigned char*>(memory) + (256 - past) % 256;
        return;
    }
    void* p = std::aligned_alloc(256, rounded);
    if (!p) throw Error(ErrorKind::out_of_memory, "host memory: cannot allocate " + std::to_string(bytes) + " bytes");
    owner_ = std::shared_ptr<void>(p, &std::free);
    data_ = p;
}

Array::Array(Backend backend, const void* source, std::size_t bytes) : Array(backend, bytes) {
    if (bytes == 0) return;
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) {
        GNNTUNE_CUDA(cudaMemcpy(data_, source, bytes, cudaMemcpyHostToDevice));
        return;
    }
#endif
    std::memcpy(data_, source, bytes);
}

void Array::fill(unsigned char byte) const {
    if (bytes_ == 0) return;
#if GNNTUNE_WITH_CUDA
    if (backend_ == Backend::cuda) {
        GNNTUNE_CUDA(cudaMemset(data_, byte, bytes_));
        GNNTUNE_CUDA(cudaDeviceSynchronize());
        return;
    }
#endif
    std::memset(data_, byte, bytes_);
}

void Array::to_host(void* target) const {
    if (bytes_ == 0) return;
#if GNNTUNE_WITH_CUDA
    if (backend_ == Backend::cuda) {
        GNNTUNE_CUDA(cudaMemcpy(target, data_, bytes_, cudaMemcpyDeviceToHost));
        return;
    }
#endif
    std::memcpy(target, data_, bytes_);
}

}  // namespace gnntune::tuner
