// Error types used inside the project. Exceptions never cross the C ABI: profiles/library converts them in one place,
// and tools/ maps them to exit codes in one place.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace gnntune {

/// What went wrong, in the terms of the C ABI (gnntune.h) and of the exit codes of the command line.
enum class ErrorKind {
    invalid_argument,  ///< the caller broke a documented precondition            (exit 2)
    input,             ///< a file or graph that cannot be used                    (exit 3)
    no_device,         ///< no such processor here, or no permission to use it     (exit 4)
    verification,      ///< a result disagreed with the oracle                     (exit 5)
    database,          ///< the store could not be read or written                 (exit 6)
    unsupported,       ///< a legal request that this build or variant refuses     (exit 1)
    runtime,           ///< a CUDA, cuSPARSE or CUPTI call failed                  (exit 1)
    out_of_memory,     ///< host or device memory ran out                          (exit 1)
};

/// Base of every exception the project throws. `what()` is one sentence: what was expected, where, and what to do.
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

/// What an exception says to people: a failed allocation of the standard library has no words of its own.
inline std::string words_of(const std::exception& e) {
    return dynamic_cast<const std::bad_alloc*>(&e) ? "memory ran out" : e.what();
}

/// Short forms, so that throwing reads as prose.
inline Error invalid_argument(const std::string& m) {
    return {ErrorKind::invalid_argument, m};
}
inline Error input_error(const std::string& m) {
    return {ErrorKind::input, m};
}
inline Error unsupported(const std::string& m) {
    return {ErrorKind::unsupported, m};
}
inline Error database_error(const std::string& m) {
    return {ErrorKind::database, m};
}

}  // namespace gnntune
