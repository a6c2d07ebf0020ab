// The seam between C and C++: status codes for exceptions, structs that grow, text into the caller's buffer.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
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

/// Sizes that a struct has had. Structs grow at their ends, so the first field that an early header lacked tells how
/// large the struct was in it.
struct StructSizes {
    std::size_t first;  ///< in the first header: no program has a smaller one
    std::size_t wide;   ///< where the first field of eight bytes begins; all before it have four
    std::size_t known;  ///< today
};
template <typename T>
inline constexpr StructSizes kStructSizes{};
template <>
inline constexpr StructSizes kStructSizes<gnntune_open_options>{offsetof(gnntune_open_options, sources),
                                                                offsetof(gnntune_open_options, format_limit_bytes),
                                                                sizeof(gnntune_open_options)};
template <>
inline constexpr StructSizes kStructSizes<gnntune_csr>{offsetof(gnntune_csr, transient), offsetof(gnntune_csr, n_rows),
                                                       sizeof(gnntune_csr)};
template <>
inline constexpr StructSizes kStructSizes<gnntune_coo>{offsetof(gnntune_coo, transient), offsetof(gnntune_coo, n_rows),
                                                       sizeof(gnntune_coo)};
template <>
inline constexpr StructSizes kStructSizes<gnntune_problem>{
    offsetof(gnntune_problem, self_loop), offsetof(gnntune_problem, max_error), sizeof(gnntune_problem)};
template <>
inline constexpr StructSizes kStructSizes<gnntune_operands>{
    offsetof(gnntune_operands, self_weight), offsetof(gnntune_operands, x), sizeof(gnntune_operands)};

/// Throws ErrorKind::invalid_argument unless the bytes of a caller's struct, which is larger than the one we know, are
/// zero from there on; or if its size cannot be one: it is that of the first header or more, of a struct with a field of
/// eight bytes a multiple of eight, of another of four. Half a pointer is never taken. Returns the number of bytes to
/// take from it.
std::size_t checked_struct_size(const void* given, const StructSizes& sizes, const char* name);

/// Throws ErrorKind::invalid_argument unless a reserved field is zero: a later library may give it a meaning.
inline void require_zero(const char* field, std::int32_t value) {
    if (value != 0) {
        throw invalid_argument(std::string(field) + " is " + std::to_string(value) +
                               "; expected 0: zero the struct before its fields are set");
    }
}

/// The caller's struct as this build knows it: what a smaller one lacks is zero.
template <typename T>
T read_struct(const T* given, const char* name) {
    T known;
    std::memset(&known, 0, sizeof known);
    std::memcpy(&known, given, checked_struct_size(given, kStructSizes<T>, name));
    return known;
}

/// As snprintf: at most `size` bytes with the ending zero; returns the length of the whole text.
std::size_t copy_text(std::string_view text, char* buffer, std::size_t size) noexcept;

template <typename T>
T* require(T* pointer, const char* name) {
    if (!pointer) throw invalid_argument(std::string(name) + " is NULL");
    return pointer;
}

}  // namespace gnntune::library
