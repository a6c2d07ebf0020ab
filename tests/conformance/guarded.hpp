// Memory with guard words on both sides, on the host or on the device.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/registry/op.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#endif

namespace gnntune::conformance {

/// Bit pattern of outputs before a run: a NaN that no computation produces.
inline constexpr std::uint32_t kPoison = 0x7fc0dead;
inline constexpr std::uint32_t kGuard = 0xa5a5a5a5;

/// `count` 32-bit words between two runs of 64 guard words, shifted by `offset` words from a 256-byte boundary.
class GuardedWords {
public:
    GuardedWords(Backend backend, std::size_t count, std::size_t offset = 0)
        : backend_(backend), count_(count), offset_(offset), host_(kPad + offset + count + kPad, kGuard) {
#if GNNTUNE_WITH_CUDA
        if (backend == Backend::cuda) device_ = DeviceBuffer<std::uint32_t>(host_.size());
#endif
        upload();
    }

    std::size_t count() const { return count_; }
    std::uint32_t* data() { return base() + kPad + offset_; }
    float* floats() { return reinterpret_cast<float*>(data()); }

    /// Fills the words (guards stay) and brings them to where they are used.
    void fill(std::uint32_t word) {
        for (std::size_t i = 0; i < count_; ++i) host_[kPad + offset_ + i] = word;
        upload();
    }
    void assign(const void* words) {
        if (count_ > 0) std::memcpy(host_.data() + kPad + offset_, words, count_ * 4);
        upload();
    }
    /// The words as they are now. After the device has finished.
    std::vector<std::uint32_t> words() {
        download();
        return {host_.begin() + static_cast<std::ptrdiff_t>(kPad + offset_),
                host_.begin() + static_cast<std::ptrdiff_t>(kPad + offset_ + count_)};
    }
    /// Whether every guard word is untouched. After the device has finished.
    bool guards_intact() {
        download();
        for (std::size_t i = 0; i < host_.size(); ++i) {
            const bool inside = i >= kPad + offset_ && i < kPad + offset_ + count_;
            if (!inside && host_[i] != kGuard) return false;
        }
        return true;
    }

private:
    static constexpr std::size_t kPad = 64;

    std::uint32_t* base() {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) return device_.data();
#endif
        return host_.data();
    }
    void upload() {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) device_.copy_from_host(host_.data());
#endif
    }
    void download() {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) {
            GNNTUNE_CUDA(cudaMemcpy(host_.data(), device_.data(), host_.size() * 4, cudaMemcpyDeviceToHost));
        }
#endif
    }

    Backend backend_;
    std::size_t count_;
    std::size_t offset_;
    std::vector<std::uint32_t> host_;
#if GNNTUNE_WITH_CUDA
    DeviceBuffer<std::uint32_t> device_;
#endif
};

}  // namespace gnntune::conformance
