// A std::vector that leaves trivially constructible elements uninitialised on resize().
// Graph arrays are hundreds of megabytes and are always written in full right after they are sized.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace gnntune {

template <typename T>
class UninitialisedAllocator : public std::allocator<T> {
public:
    template <typename U>
    struct rebind {
        using other = UninitialisedAllocator<U>;
    };
    UninitialisedAllocator() = default;
    template <typename U>
    UninitialisedAllocator(const UninitialisedAllocator<U>&) noexcept {}

    template <typename U>
    void construct(U* p) noexcept(std::is_nothrow_default_constructible_v<U>) {
        ::new (static_cast<void*>(p)) U;
    }
    template <typename U, typename... Args>
    void construct(U* p, Args&&... args) {
        ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
    }
};

template <typename T>
using HostVector = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace gnntune
