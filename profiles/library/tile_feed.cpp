#include "profiles/library/tile_feed.hpp"

#include <algorithm>
#include <string>

#include "core/common/error.hpp"
#include "core/graph/row_tiles.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/cuda_check.hpp"
#endif

namespace gnntune::library {

#if GNNTUNE_WITH_CUDA

PinnedRange::PinnedRange(const void* data, std::uint64_t bytes) {
    const cudaError_t status = cudaHostRegister(const_cast<void*>(data), bytes, cudaHostRegisterDefault);
    if (status == cudaErrorHostMemoryAlreadyRegistered) {
        (void)cudaGetLastError();
        return;
    }
    if (status != cudaSuccess) {
        (void)cudaGetLastError();
        throw Error(ErrorKind::out_of_memory, "tiling.pin: " + std::to_string(bytes) +
                                                  " bytes of col_idx cannot be page-locked (" +
                                                  cudaGetErrorString(status) +
                                                  "); raise the limit of locked memory (ulimit -l), or leave pin at 0");
    }
    data_ = data;
}

PinnedRange::~PinnedRange() {
    if (data_) GNNTUNE_CUDA_NOEXCEPT(cudaHostUnregister(const_cast<void*>(data_)));
}

bool is_page_locked(const Device& device, const void* data, std::uint64_t bytes) {
    if (device.backend != Backend::cuda || !data || bytes == 0) return true;
    for (const std::uint64_t at : {std::uint64_t{0}, bytes - 1}) {
        cudaPointerAttributes attributes{};
        GNNTUNE_CUDA(cudaPointerGetAttributes(&attributes, static_cast<const char*>(data) + at));
        if (attributes.type != cudaMemoryTypeHost) return false;
    }
    return true;
}

void TileFeed::Free::operator()(void* memory) const {
    GNNTUNE_CUDA_NOEXCEPT(cudaFreeHost(memory));
}

TileFeed::TileFeed(const Device& device) {
    if (device.backend == Backend::cuda) lanes_ = std::make_unique<Lanes>();
}

void TileFeed::begin(int slot, StreamHandle after, bool follows) {
    if (!lanes_) return;
    const cudaStream_t copies = lanes_->copies.get();
    // An event that was never recorded is waited for by nobody.
    GNNTUNE_CUDA(cudaStreamWaitEvent(copies, lanes_->emptied[static_cast<std::size_t>(slot)].get(), 0));
    if (!follows) return;
    lanes_->asked.record(static_cast<cudaStream_t>(after));
    GNNTUNE_CUDA(cudaStreamWaitEvent(copies, lanes_->asked.get(), 0));
}

template <typename Fill>
void TileFeed::through_staging(std::size_t bytes, void* to, const Fill& fill) {
    const cudaStream_t copies = lanes_->copies.get();
    for (std::size_t begin = 0; begin < bytes; begin += kStagingBytes) {
        Staging& staging = lanes_->staging[lanes_->next];
        lanes_->next = 1 - lanes_->next;
        if (!staging.memory) {
            void* memory = nullptr;
            const cudaError_t status = cudaMallocHost(&memory, kStagingBytes);
            if (status == cudaErrorMemoryAllocation) {
                (void)cudaGetLastError();
                throw Error(ErrorKind::out_of_memory, "host memory: cannot page-lock " + std::to_string(kStagingBytes) +
                                                          " bytes, through which tiles go to the device; free memory");
            }
            GNNTUNE_CUDA(status);
            staging.memory.reset(memory);
        }
        GNNTUNE_CUDA(cudaEventSynchronize(staging.sent.get()));
        const std::size_t size = std::min(kStagingBytes, bytes - begin);
        fill(begin, size, staging.memory.get());
        GNNTUNE_CUDA(cudaMemcpyAsync(static_cast<char*>(to) + begin, staging.memory.get(), size, cudaMemcpyHostToDevice,
                                     copies));
        staging.sent.record(copies);
    }
}

void TileFeed::copy_ids(const WideCsrView& graph, std::int64_t first, std::int64_t count, std::int32_t* to,
                        bool page_locked) {
    if (!lanes_) {
        gnntune::copy_ids(graph, first, count, to);
        return;
    }
    const std::size_t size = static_cast<std::size_t>(count) * 4;
    if (page_locked && !graph.wide_ids) {
        copy(static_cast<const std::int32_t*>(graph.col_idx) + first, size, to, true);
        return;
    }
    through_staging(size, to, [&](std::size_t begin, std::size_t part, void* memory) {
        gnntune::copy_ids(graph, first + static_cast<std::int64_t>(begin / 4), static_cast<std::int64_t>(part / 4),
                          static_cast<std::int32_t*>(memory));
    });
}

void TileFeed::copy(const void* from, std::size_t bytes, void* to, bool page_locked) {
    if (bytes == 0) return;
    if (!lanes_) {
        copy_bytes(from, bytes, to);
    } else if (page_locked) {
        GNNTUNE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, lanes_->copies.get()));
    } else {
        through_staging(bytes, to, [&](std::size_t begin, std::size_t part, void* memory) {
            copy_bytes(static_cast<const char*>(from) + begin, part, memory);
        });
    }
}

void TileFeed::copy_within(const void* from, std::size_t bytes, void* to, StreamHandle stream) {
    if (!lanes_) {
        copy_bytes(from, bytes, to);
    } else {
        GNNTUNE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)));
    }
}

void TileFeed::arrive(int slot, StreamHandle stream) {
    if (!lanes_) return;
    const CudaEvent& filled = lanes_->filled[static_cast<std::size_t>(slot)];
    filled.record(lanes_->copies.get());
    GNNTUNE_CUDA(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), filled.get(), 0));
}

void TileFeed::leave(int slot, StreamHandle stream) {
    if (lanes_) lanes_->emptied[static_cast<std::size_t>(slot)].record(static_cast<cudaStream_t>(stream));
}

void TileFeed::wait() {
    if (lanes_) lanes_->copies.synchronize();
}

void TileFeed::follow_last_run(StreamHandle stream) {
    if (lanes_) GNNTUNE_CUDA(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), lanes_->ended.get(), 0));
}

void TileFeed::end_run(StreamHandle stream) {
    if (lanes_) lanes_->ended.record(static_cast<cudaStream_t>(stream));
}

#else

PinnedRange::PinnedRange(const void*, std::uint64_t) {}
PinnedRange::~PinnedRange() = default;

bool is_page_locked(const Device&, const void*, std::uint64_t) {
    return true;
}

TileFeed::TileFeed(const Device&) {}
void TileFeed::begin(int, StreamHandle, bool) {}
void TileFeed::copy_ids(const WideCsrView& graph, std::int64_t first, std::int64_t count, std::int32_t* to, bool) {
    gnntune::copy_ids(graph, first, count, to);
}
void TileFeed::copy(const void* from, std::size_t bytes, void* to, bool) {
    copy_bytes(from, bytes, to);
}
void TileFeed::copy_within(const void* from, std::size_t bytes, void* to, StreamHandle) {
    copy_bytes(from, bytes, to);
}
void TileFeed::arrive(int, StreamHandle) {}
void TileFeed::leave(int, StreamHandle) {}
void TileFeed::wait() {}
void TileFeed::follow_last_run(StreamHandle) {}
void TileFeed::end_run(StreamHandle) {}

#endif

}  // namespace gnntune::library
