// Memory with guard words on both sides, on the host or on the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/registry/op.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#endif

namespace gnntune::conformance {

/// Every pair of bytes of outputs before a run: a NaN of f32, f16 and bf16 that no computation produces.
inline constexpr std::uint16_t kPoison = 0x7fdd;
inline constexpr std::uint8_t kGuard = 0xa5;

#if GNNTUNE_WITH_CUDA
/// Host memory that the device reads and writes while the host goes on.
class PinnedBytes {
public:
    PinnedBytes() = default;
    explicit PinnedBytes(std::size_t bytes) : bytes_(bytes) {
        void* p = nullptr;
        GNNTUNE_CUDA(cudaMallocHost(&p, bytes));
        data_.reset(static_cast<std::uint8_t*>(p));
    }
    std::uint8_t* data() { return data_.get(); }
    std::size_t bytes() const { return data_ ? bytes_ : 0; }

private:
    struct Deleter {
        void operator()(std::uint8_t* p) const { GNNTUNE_CUDA_NOEXCEPT(cudaFreeHost(p)); }
    };
    std::unique_ptr<std::uint8_t, Deleter> data_;
    std::size_t bytes_ = 0;
};

/// Buffers to be used again, by their exact size, so that memcheck still sees an access past the end: to allocate and to
/// free cost more than most kernels of the suite.
template <typename Buffer>
class BytesPool {
public:
    static Buffer take(std::size_t bytes) {
        auto& free = shelves()[bytes];
        if (free.empty()) return Buffer(bytes);
        Buffer buffer = std::move(free.back());
        free.pop_back();
        return buffer;
    }
    static void give(Buffer buffer) {
        const std::size_t bytes = buffer.bytes();
        if (bytes > 0 && bytes < kLargest) shelves()[bytes].push_back(std::move(buffer));
    }

private:
    static constexpr std::size_t kLargest = 16 << 20;
    // Never destroyed: the CUDA runtime may be gone when statics are.
    static std::map<std::size_t, std::vector<Buffer>>& shelves() {
        static auto* const kShelves = new std::map<std::size_t, std::vector<Buffer>>;
        return *kShelves;
    }
};
#endif

/// Bytes between two runs of 256 guard bytes, shifted by `offset` bytes from a 256-byte boundary. Copies to the device
/// and back are work of the stream, so that a run costs one wait and not one for each array: what was fetched is there
/// once the stream has been waited for.
class GuardedBytes {
public:
    GuardedBytes(Backend backend, StreamHandle stream, std::size_t count, std::size_t offset = 0)
        : backend_(backend), stream_(stream), count_(count), offset_(offset), bytes_(kPad + offset + count + kPad) {
#if GNNTUNE_WITH_CUDA
        if (backend == Backend::cuda) {
            device_ = BytesPool<DeviceBuffer<std::uint8_t>>::take(bytes_);
            pinned_ = BytesPool<PinnedBytes>::take(bytes_);
            host_ = pinned_.data();
        }
#endif
        if (backend == Backend::cpu) {
            plain_.resize(bytes_);
            host_ = plain_.data();
        }
        std::fill(host_, host_ + bytes_, kGuard);
    }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;
    ~GuardedBytes() {
#if GNNTUNE_WITH_CUDA
        if (backend_ != Backend::cuda) return;
        GNNTUNE_CUDA_NOEXCEPT(cudaStreamSynchronize(cuda_stream()));
        BytesPool<DeviceBuffer<std::uint8_t>>::give(std::move(device_));
        BytesPool<PinnedBytes>::give(std::move(pinned_));
#endif
    }

    /// Where the bytes are on the backend.
    void* data() {
        return base() + kPad + offset_;
    }
    template <typename T>
    T* as() {
        return static_cast<T*>(data());
    }

    /// Fills the bytes (guards stay) with one pair of bytes and brings them to where they are used. The content is
    /// undefined before.
    void fill(std::uint16_t pair) {
        if (count_ > 0) {
            std::uint8_t* const to = inside();
            for (std::size_t i = 0; i < std::min<std::size_t>(count_, 2); ++i) to[i] = byte_of(pair, i);
            // What is filled is even until the last copy, so that pairs stay pairs.
            for (std::size_t done = 2; done < count_; done *= 2)
                std::memcpy(to + done, to, std::min(done, count_ - done));
        }
        upload();
    }
    void assign(const void* bytes) {
        if (count_ > 0) std::memcpy(inside(), bytes, count_);
        upload();
    }
    /// Makes bytes() and guards_intact() speak of the memory as the stream's work so far leaves it, once that is done.
    void fetch() {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) {
            GNNTUNE_CUDA(cudaMemcpyAsync(host_, device_.data(), bytes_, cudaMemcpyDeviceToHost, cuda_stream()));
        }
#endif
    }
    std::vector<std::uint8_t> bytes() const {
        return {inside(), inside() + count_};
    }
    bool equals(const void* bytes) const {
        return count_ == 0 || std::memcmp(inside(), bytes, count_) == 0;
    }
    /// Whether every guard byte is untouched.
    bool guards_intact() const {
        const auto intact = [](std::uint8_t byte) { return byte == kGuard; };
        return std::all_of<const std::uint8_t*>(host_, inside(), intact) &&
               std::all_of<const std::uint8_t*>(inside() + count_, host_ + bytes_, intact);
    }

private:
    static constexpr std::size_t kPad = 256;

    static std::uint8_t byte_of(std::uint16_t pair, std::size_t at) {
        return static_cast<std::uint8_t>(at % 2 == 0 ? pair & 0xffU : pair >> 8);
    }
    std::uint8_t* inside() const {
        return host_ + kPad + offset_;
    }
    std::uint8_t* base() {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) return device_.data();
#endif
        return host_;
    }
    void upload() {
#if GNNTUNE_WITH_CUDA
        if (backend_ == Backend::cuda) {
            GNNTUNE_CUDA(cudaMemcpyAsync(device_.data(), host_, bytes_, cudaMemcpyHostToDevice, cuda_stream()));
        }
#endif
    }
#if GNNTUNE_WITH_CUDA
    cudaStream_t cuda_stream() const {
        return static_cast<cudaStream_t>(stream_);
    }
#endif

    Backend backend_;
    StreamHandle stream_;
    std::size_t count_;
    std::size_t offset_;
    std::size_t bytes_;
    std::uint8_t* host_ = nullptr;
    std::vector<std::uint8_t> plain_;
#if GNNTUNE_WITH_CUDA
    DeviceBuffer<std::uint8_t> device_;
    PinnedBytes pinned_;
#endif
};

template <typename Element>
bool has_element_of_pairs(const std::vector<std::uint8_t>& bytes, std::uint16_t pair) {
    Element pattern = 0;
    for (std::size_t i = 0; i < sizeof pattern; i += 2)
        std::memcpy(reinterpret_cast<std::uint8_t*>(&pattern) + i, &pair, 2);
    for (std::size_t at = 0; at + sizeof pattern <= bytes.size(); at += sizeof pattern) {
        Element element;
        std::memcpy(&element, &bytes[at], sizeof element);
        if (element == pattern) return true;
    }
    return false;
}

/// Whether any element of `element_bytes` (2, 4 or 8) is as fill(pair) left it.
inline bool has_unwritten(const std::vector<std::uint8_t>& bytes, std::size_t element_bytes, std::uint16_t pair) {
    if (element_bytes == 2) return has_element_of_pairs<std::uint16_t>(bytes, pair);
    if (element_bytes == 4) return has_element_of_pairs<std::uint32_t>(bytes, pair);
    return has_element_of_pairs<std::uint64_t>(bytes, pair);
}

}  // namespace gnntune::conformance
