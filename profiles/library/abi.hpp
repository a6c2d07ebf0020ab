// The seam between C and C++: status codes for exceptions, structs that grow, text into the caller's buffer.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/common/error.hpp"
#include "core/common/threads.hpp"
#include "core/include/gnntune/gnntune.h"

namespace gnntune::library {

/// Puts the exception that is being handled into words for gnntune_last_error. Call it inside a catch block.
gnntune_status report_current_exception() noexcept;
/// Never null; the calling thread's.
const char* last_error() noexcept;

/// While this lives the thread is not cancelled (pthread_cancel): files, locks and memory of a call are its own, and the
/// unwinding of a cancellation may not end where exceptions do.
class CancellationHeld {
public:
    CancellationHeld() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    CancellationHeld(const CancellationHeld&) = delete;
    CancellationHeld& operator=(const CancellationHeld&) = delete;
    ~CancellationHeld() { pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Runs `f` and turns what it throws into a status: the one place where exceptions end.
template <typename F>
gnntune_status guarded(F&& f) noexcept {
    const CancellationHeld held;
    const OneThreadInForkedChild alone;
    try {
        std::forward<F>(f)();
        return GNNTUNE_OK;
    } catch (...) {
        return report_current_exception();
    }
}

/// Bytes that a struct has in the first header: no program has a smaller one. Structs grow at their ends.
template <typename T>
inline constexpr std::size_t kFirstSize = 0;
template <>
inline constexpr std::size_t kFirstSize<gnntune_open_options> = 72;
template <>
inline constexpr std::size_t kFirstSize<gnntune_csr> = 72;
template <>
inline constexpr std::size_t kFirstSize<gnntune_coo> = 64;
template <>
inline constexpr std::size_t kFirstSize<gnntune_problem> = 80;
template <>
inline constexpr std::size_t kFirstSize<gnntune_operands> = 256;
template <>
inline constexpr std::size_t kFirstSize<gnntune_tiling> = 40;

/// Throws ErrorKind::invalid_argument unless a struct that had `first` bytes in the first header may have `size`: half a
/// pointer is never taken.
void require_struct_size(std::size_t size, std::size_t first, const char* name);

/// Throws ErrorKind::invalid_argument as require_struct_size does, and if the caller's struct is larger than the `known`
/// bytes that we know and has anything but zero there. Returns the number of bytes to take from it.
std::size_t checked_struct_size(const void* given, std::size_t first, std::size_t known, const char* name);

/// The caller's struct as this build knows it: what a smaller one lacks is zero, which means what the library did without.
template <typename T>
T read_struct(const T* given, const char* name) {
    static_assert(kFirstSize<T> > 0 && kFirstSize<T> <= sizeof(T));
    T known;
    std::memset(&known, 0, sizeof known);
    std::memcpy(&known, given, checked_struct_size(given, kFirstSize<T>, sizeof known, name));
    return known;
}

/// Fills in the `size` bytes of a caller's struct: what this build knows as in `defaults`, the rest with zero.
template <typename T>
void init_struct(T* given, std::size_t size, const T& defaults, const char* name) {
    if (!given) throw invalid_argument(std::string(name) + " is NULL");
    require_struct_size(size, kFirstSize<T>, name);
    T known = defaults;
    known.struct_size = size;
    auto* bytes = reinterpret_cast<unsigned char*>(given);
    std::memset(bytes, 0, size);
    std::memcpy(bytes, &known, size < sizeof known ? size : sizeof known);
}

/// As snprintf: at most `size` bytes with the ending zero; returns the length of the whole text.
std::size_t copy_text(std::string_view text, char* buffer, std::size_t size) noexcept;

template <typename T>
T* require(T* pointer, const char* name) {
    if (!pointer) throw invalid_argument(std::string(name) + " is NULL");
    return pointer;
}

}  // namespace gnntune::library
