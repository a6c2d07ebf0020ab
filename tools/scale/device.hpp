// What the stream benchmark does with memory and clocks of the processor that it runs on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/include/gnntune/gnntune.h"

namespace gnntune::scale {

/// Host memory in large pages, untouched. Throws std::bad_alloc.
class HostMemory {
public:
    HostMemory() = default;
    explicit HostMemory(std::size_t bytes);
    void* data() const { return data_.get(); }
    std::size_t bytes() const { return bytes_; }
    template <typename T>
    T* as() const {
        return static_cast<T*>(data_.get());
    }

private:
    struct Free {
        void operator()(void* memory) const;
    };
    std::unique_ptr<void, Free> data_;
    std::size_t bytes_ = 0;
};

/// A processor: its memory, its copies, its clock. That of the CPU has one kind of memory.
class Processor {
public:
    virtual ~Processor() = default;
    virtual bool is_cuda() const = 0;
    virtual std::string name() const = 0;
    virtual gnntune_stream stream() const = 0;

    virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
    /// Fills so many floats at `to` in pieces, each by fill(first, count, memory) on the host.
    virtual void fill(float* to, std::int64_t count,
                      const std::function<void(std::int64_t, std::int64_t, float*)>& fill) = 0;
    virtual void set(void* to, unsigned char byte, std::size_t bytes) = 0;
    virtual void read(const void* from, std::size_t bytes, void* to) = 0;
    /// Elements, of four bytes, in which two arrays differ.
    virtual std::int64_t differences(const void* one, const void* other, std::size_t bytes) = 0;

    /// Seconds of f(), which enqueues work on stream(), until that has ended.
    virtual double time(const std::function<void()>& f) = 0;
    /// Seconds of moving `bytes` from host memory in pieces of `piece`, to two places in turn. 0 where there is no link.
    virtual double move(const void* from, std::size_t bytes, std::size_t piece) = 0;
    virtual void lock_pages(const void* memory, std::size_t bytes) = 0;
    virtual void unlock_pages(const void* memory) = 0;
};

/// "cpu" or "cuda". Throws Error in words if it is not there.
std::unique_ptr<Processor> processor(const std::string& name);

}  // namespace gnntune::scale
