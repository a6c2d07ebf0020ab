// Where memory of formats, converted graphs and plans comes from: plain allocation, or what an application has handed
// in.
//
// A MemoryScope says which source a thread uses; HostVector (core/common/host_vector.hpp) and DeviceBuffer
// (core/gpu/device_buffer.hpp) take theirs when they are made, give their memory back to it, and keep it alive.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace gnntune {

enum class MemoryKind { host, device };

/// Thread-safe.
class MemorySource {
public:
    MemorySource() = default;
    MemorySource(const MemorySource&) = delete;
    MemorySource& operator=(const MemorySource&) = delete;
    virtual ~MemorySource() = default;

    /// Never null for more than 0 bytes. Throws ErrorKind::out_of_memory in words.
    virtual void* allocate(std::size_t bytes, std::size_t alignment) = 0;
    /// What allocate() has returned for so many bytes.
    virtual void release(void* memory, std::size_t bytes) noexcept = 0;
};

/// The calling thread's source of that kind; null: plain allocation.
const std::shared_ptr<MemorySource>& current_memory(MemoryKind kind) noexcept;

/// Makes a source the calling thread's until the scope ends. Null: plain allocation.
class MemoryScope {
public:
    MemoryScope(MemoryKind kind, std::shared_ptr<MemorySource> source) noexcept;
    ~MemoryScope();
    MemoryScope(const MemoryScope&) = delete;
    MemoryScope& operator=(const MemoryScope&) = delete;

private:
    MemoryKind kind_;
    std::shared_ptr<MemorySource> source_;
    const std::shared_ptr<MemorySource>* before_;  ///< the thread's; null: plain
};

/// Counts what is held of another source and refuses what would be too much.
class CountingMemory final : public MemorySource {
public:
    /// `upstream` is not null. `limit_bytes` may be SIZE_MAX. `whose` completes "<whose> may hold N bytes".
    CountingMemory(std::shared_ptr<MemorySource> upstream, std::size_t limit_bytes, const char* whose)
        : upstream_(std::move(upstream)), limit_bytes_(limit_bytes), whose_(whose) {}

    void* allocate(std::size_t bytes, std::size_t alignment) override;
    void release(void* memory, std::size_t bytes) noexcept override;

    std::size_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }
    std::size_t limit_bytes() const { return limit_bytes_; }

private:
    std::shared_ptr<MemorySource> upstream_;
    std::size_t limit_bytes_;
    const char* whose_;
    std::atomic<std::size_t> held_bytes_ = 0;
};

/// The plain source of host memory. That of device memory is plain_device_memory() of core/gpu/device_buffer.hpp.
std::shared_ptr<MemorySource> plain_host_memory();

}  // namespace gnntune
