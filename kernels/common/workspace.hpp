// Workspaces cut into parts: each starts at a multiple of 256 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gnntune::kernels {

/// Bytes of a part, up to where the next one starts.
constexpr std::size_t align_workspace(std::size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/// Cuts a workspace into arrays, each at a multiple of 256 bytes; with a null base it only counts.
class WorkspaceCutter {
public:
    explicit WorkspaceCutter(void* base) : base_(static_cast<char*>(base)) {}
    template <typename T>
    T* take(std::int64_t count) {
        char* at = base_ ? base_ + bytes_ : nullptr;
        bytes_ += align_workspace(static_cast<std::size_t>(count) * sizeof(T));
        return reinterpret_cast<T*>(at);
    }
    std::size_t bytes() const { return bytes_; }

private:
    char* base_;
    std::size_t bytes_ = 0;
};

}  // namespace gnntune::kernels
