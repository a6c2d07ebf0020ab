// An array of floats or ints on the backend that is tuned, filled from the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/common/host_vector.hpp"
#include "core/registry/op.hpp"

namespace gnntune::tuner {

/// Bytes in host or device memory, aligned to at least 256 bytes, from the source of the thread that makes it
/// (core/common/memory_source.hpp). Movable. Throws ErrorKind::out_of_memory.
class Array {
public:
    Array() = default;
    Array(Backend backend, std::size_t bytes);
    /// A copy of host memory.
    Array(Backend backend, const void* source, std::size_t bytes);

    void* data() const { return data_; }
    template <typename T>
    T* as() const {
        return static_cast<T*>(data_);
    }
    std::size_t bytes() const { return bytes_; }

    /// Overwrites every byte with `byte`; has happened when it returns.
    void fill(unsigned char byte) const;
    /// Copies the whole array to the host.
    void to_host(void* target) const;

private:
    Backend backend_ = Backend::cpu;
    std::size_t bytes_ = 0;
    void* data_ = nullptr;
    std::shared_ptr<void> owner_;
};

}  // namespace gnntune::tuner
