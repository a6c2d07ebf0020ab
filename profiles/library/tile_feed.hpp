// The way of a tile from the caller's host memory into a buffer that kernels read.
//
// On a GPU two buffers take turns: copies run on a stream of their own, and events keep them behind the kernels that read
// the buffer before, and the next kernels behind the copies. Page-locked memory is copied from where it lies, and nothing
// waits on the host; pageable memory goes through two page-locked buffers, which this thread fills. The cpu backend has
// no streams: copies are made at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/registry/device.hpp"
#include "core/registry/variant.hpp"
#include "profiles/library/tile_layout.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/stream.hpp"
#endif

namespace gnntune::library {

/// Memory of the caller's that the library has page-locked, until this ends.
class PinnedRange {
public:
    PinnedRange() = default;
    /// Throws ErrorKind::out_of_memory in words if it cannot be.
    PinnedRange(const void* data, std::uint64_t bytes);
    PinnedRange(const PinnedRange&) = delete;
    PinnedRange& operator=(const PinnedRange&) = delete;
    ~PinnedRange();

private:
    const void* data_ = nullptr;
};

/// Whether a device reads this host memory by itself.
bool is_page_locked(const Device& device, const void* data, std::uint64_t bytes);

/// Not thread-safe: whoever has its turn uses it.
class TileFeed {
public:
    explicit TileFeed(const Device& device);

    /// What comes next fills the buffers of `slot`: behind the work that has read them, and behind `after`, if that has
    /// made what is copied; `follows`: whether it may have.
    void begin(int slot, StreamHandle after, bool follows);
    void copy_ids(const WideCsrView& graph, std::int64_t first, std::int64_t count, std::int32_t* to, bool page_locked);
    void copy(const void* from, std::size_t bytes, void* to, bool page_locked);
    /// From backend memory to backend memory, in the order of `stream`.
    void copy_within(const void* from, std::size_t bytes, void* to, StreamHandle stream);
    /// Work on `stream` from now on finds what was copied.
    void arrive(int slot, StreamHandle stream);
    /// What reads the slot is on `stream` now.
    void leave(int slot, StreamHandle stream);
    /// Until what was copied is there.
    void wait();

    /// Work on `stream` from now on finds the last run ended.
    void follow_last_run(StreamHandle stream);
    void end_run(StreamHandle stream);

#if GNNTUNE_WITH_CUDA
private:
    /// Fills page-locked buffers by fill(begin, size, memory), so many bytes in all, and sends them on their way.
    template <typename Fill>
    void through_staging(std::size_t bytes, void* to, const Fill& fill);

    struct Free {
        void operator()(void* memory) const;
    };
    struct Staging {
        std::unique_ptr<void, Free> memory;
        CudaEvent sent;
    };
    struct Lanes {
        CudaStream copies;
        std::array<CudaEvent, kTileSlots> filled;
        std::array<CudaEvent, kTileSlots> emptied;
        CudaEvent asked;
        CudaEvent ended;
        std::array<Staging, 2> staging;
        std::size_t next = 0;
    };
    std::unique_ptr<Lanes> lanes_;
#endif
};

}  // namespace gnntune::library
