// The arrays of a call that needs no graph, as they are checked before anything is computed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profiles/library/run.hpp"

namespace gnntune::library {

/// Throws ErrorKind::invalid_argument in words for what is NULL, not aligned, or shares memory with what is written.
class CallArrays {
public:
    explicit CallArrays(std::size_t element_bytes) : element_bytes_(element_bytes) {}

    /// `elements` of 0 need no memory.
    void read(const char* name, const void* data, std::int64_t elements) {
        add(name, data, elements, element_bytes_, false, false);
    }
    void written(const char* name, const void* data, std::int64_t elements, bool optional = false) {
        add(name, data, elements, element_bytes_, true, optional);
    }
    /// Of elements of another size.
    void written_as(std::size_t element_bytes, const char* name, const void* data, std::int64_t elements) {
        add(name, data, elements, element_bytes, true, false);
    }
    /// The last to be called; a workspace of no bytes may be null.
    void require_apart(const void* workspace = nullptr, std::size_t bytes = 0);

private:
    void add(const char* name, const void* data, std::int64_t elements, std::size_t element_bytes, bool written,
             bool optional);
    void place(const char* name, const void* data, std::size_t bytes, bool written);

    std::size_t element_bytes_;
    std::array<Region, 9> all_;
    std::size_t count_ = 0;
};

}  // namespace gnntune::library
