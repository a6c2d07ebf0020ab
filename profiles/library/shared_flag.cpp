#include "profiles/library/shared_flag.hpp"

#include <utility>

#include "core/common/error.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/cuda_check.hpp"
#endif

namespace gnntune::library {

void SharedFlags::Flag::Free::operator()(std::int32_t* memory) const {
#if GNNTUNE_WITH_CUDA
    if (backend == Backend::cuda) {
        GNNTUNE_CUDA_NOEXCEPT(cudaFreeHost(memory));
        return;
    }
#endif
    delete memory;
}

SharedFlags::Memory SharedFlags::take() {
    Memory memory(nullptr, Flag::Free{backend_});
    {
        const std::scoped_lock lock(mutex_);
        if (!free_.empty()) {
            memory = std::move(free_.back());
            free_.pop_back();
        } else {
            free_.reserve(free_.capacity() + 1);  // so that it can be given back without allocating
        }
    }
    if (!memory) {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) {
            void* made = nullptr;
            cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // other streams may be captured meanwhile
            GNNTUNE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
            const cudaError_t status = cudaHostAlloc(&made, sizeof(std::int32_t), cudaHostAllocPortable);
            GNNTUNE_CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
            GNNTUNE_CUDA(status);
            memory.reset(static_cast<std::int32_t*>(made));
        }
#endif
        if (!memory) memory.reset(new std::int32_t);
    }
    *memory = 0;
    return memory;
}

void SharedFlags::give_back(Memory memory) noexcept {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(memory));
}

}  // namespace gnntune::library
