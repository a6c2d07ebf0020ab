// A std::vector that leaves trivially constructible elements uninitialised on resize(), and takes its memory from the
// source of the thread that made it (core/common/memory_source.hpp).
// Graph arrays are hundreds of megabytes and are always written in full right after they are sized.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/common/memory_source.hpp"

namespace gnntune {

template <typename T>
class UninitialisedAllocator {
public:
    using value_type = T;
    // The memory goes with its source; a copy of a vector is the business of the thread that makes it.
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::false_type;

    UninitialisedAllocator() noexcept : source_(current_memory(MemoryKind::host)) {}
    template <typename U>
    UninitialisedAllocator(const UninitialisedAllocator<U>& other) noexcept : source_(other.source()) {}

    T* allocate(std::size_t n) {
        if (!source_) return std::allocator<T>().allocate(n);
        return static_cast<T*>(source_->allocate(n * sizeof(T), std::max<std::size_t>(alignof(T), 16)));
    }
    void deallocate(T* p, std::size_t n) noexcept {
        if (source_) {
            source_->release(p, n * sizeof(T));
        } else {
            std::allocator<T>().deallocate(p, n);
        }
    }
    UninitialisedAllocator select_on_container_copy_construction() const noexcept { return {}; }

    template <typename U>
    void construct(U* p) noexcept(std::is_nothrow_default_constructible_v<U>) {
        ::new (static_cast<void*>(p)) U;
    }
    template <typename U, typename... Args>
    void construct(U* p, Args&&... args) {
        ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
    }

    const std::shared_ptr<MemorySource>& source() const noexcept { return source_; }
    template <typename U>
    bool operator==(const UninitialisedAllocator<U>& other) const noexcept {
        return source_ == other.source();
    }

private:
    std::shared_ptr<MemorySource> source_;
};

template <typename T>
using HostVector = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace gnntune
