// Memory with guard words on both sides, on the host or on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/registry/op.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#endif

namespace gnntune::conformance {

/// Bit pattern of outputs before a run: a NaN that no computation produces.
inline constexpr std::uint32_t kPoison = 0x7fc0dead;
inline constexpr std::uint32_t kGuard = 0xa5a5a5a5;

#if GNNTUNE_WITH_CUDA
/// Device buffers to be used again, by their exact size, so that memcheck still sees an access past the end: cudaMalloc
/// and cudaFree cost more than most kernels of the suite.
class DeviceWordsPool {
public:
    static DeviceBuffer<std::uint32_t> take(std::size_t words) {
        auto& free = shelves()[words];
        if (free.empty()) return DeviceBuffer<std::uint32_t>(words);
        DeviceBuffer<std::uint32_t> buffer = std::move(free.back());
        free.pop_back();
        return buffer;
    }
    static void give(DeviceBuffer<std::uint32_t> buffer) {
        if (buffer.bytes() > 0 && buffer.bytes() < kLargest) shelves()[buffer.size()].push_back(std::move(buffer));
    }

private:
    static constexpr std::size_t kLargest = 16 << 20;
    // Never destroyed: the CUDA runtime may be gone when statics are.
    static std::map<std::size_t, std::vector<DeviceBuffer<std::uint32_t>>>& shelves() {
        static auto* const kShelves = new std::map<std::size_t, std::vector<DeviceBuffer<std::uint32_t>>>;
        return *kShelves;
    }
};
#endif

/// `count` 32-bit words between two runs of 64 guard words, shifted by `offset` words from a 256-byte boundary.
class GuardedWords {
public:
    GuardedWords(Backend backend, std::size_t count, std::size_t offset = 0)
        : backend_(backend), count_(count), offset_(offset), host_(kPad + offset + count + kPad, kGuard) {
#if GNNTUNE_WITH_CUDA
        if (backend == Backend::cuda) device_ = DeviceWordsPool::take(host_.size());
#endif
    }
    GuardedWords(const GuardedWords&) = delete;
    GuardedWords& operator=(const GuardedWords&) = delete;
    ~GuardedWords() {
#if GNNTUNE_WITH_CUDA
        DeviceWordsPool::give(std::move(device_));
#endif
    }

    std::size_t count() const {
        return count_;
    }
    std::uint32_t* data() {
        return base() + kPad + offset_;
    }
    float* floats() {
        return reinterpret_cast<float*>(data());
    }

    /// Fills the words (guards stay) and brings them to where they are used. The content is undefined before.
    void fill(std::uint32_t word) {
        std::fill_n(inside(), count_, word);
        upload();
    }
    void assign(const void* words) {
        if (count_ > 0) std::memcpy(&*inside(), words, count_ * 4);
        upload();
    }
    /// Makes words() and guards_intact() speak of the memory as it is now. After the device has finished.
    void fetch() {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) {
            GNNTUNE_CUDA(cudaMemcpy(host_.data(), device_.data(), host_.size() * 4, cudaMemcpyDeviceToHost));
        }
#endif
    }
    std::vector<std::uint32_t> words() const {
        return {inside(), inside() + static_cast<std::ptrdiff_t>(count_)};
    }
    bool equals(const void* words) const {
        return count_ == 0 || std::memcmp(&*inside(), words, count_ * 4) == 0;
    }
    /// Whether every guard word is untouched.
    bool guards_intact() const {
        const auto intact = [](std::uint32_t word) { return word == kGuard; };
        return std::all_of(host_.begin(), inside(), intact) &&
               std::all_of(inside() + static_cast<std::ptrdiff_t>(count_), host_.end(), intact);
    }

private:
    static constexpr std::size_t kPad = 64;

    std::vector<std::uint32_t>::iterator inside() {
        return host_.begin() + static_cast<std::ptrdiff_t>(kPad + offset_);
    }
    std::vector<std::uint32_t>::const_iterator inside() const {
        return host_.begin() + static_cast<std::ptrdiff_t>(kPad + offset_);
    }
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

    Backend backend_;
    std::size_t count_;
    std::size_t offset_;
    std::vector<std::uint32_t> host_;
#if GNNTUNE_WITH_CUDA
    DeviceBuffer<std::uint32_t> device_;
#endif
};

}  // namespace gnntune::conformance
