#include "tools/scale/device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/common/error.hpp"
#include "core/registry/device.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#endif

namespace gnntune::scale {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
[[maybe_unused]] constexpr std::size_t kPiece = std::size_t{64} << 20;

std::int64_t differing(const void* one, const void* other, std::size_t bytes) {
    const auto* a = static_cast<const std::uint32_t*>(one);
    const auto* b = static_cast<const std::uint32_t*>(other);
    const auto n = static_cast<std::int64_t>(bytes / 4);
    std::int64_t count = 0;
#pragma omp parallel for reduction(+ : count)
    for (std::int64_t i = 0; i < n; ++i) count += a[i] != b[i];
    return count;
}

class Cpu final : public Processor {
public:
    bool is_cuda() const override { return false; }
    std::string name() const override { return cpu_device().environment.device_name; }
    gnntune_stream stream() const override { return nullptr; }
    std::shared_ptr<void> allocate(std::size_t bytes) override {
        auto memory = std::make_shared<HostMemory>(bytes);
        return {memory, memory->data()};
    }
    void fill(float* to, std::int64_t count,
              const std::function<void(std::int64_t, std::int64_t, float*)>& fill) override {
        fill(0, count, to);
    }
    void set(void* to, unsigned char byte, std::size_t bytes) override { std::memset(to, byte, bytes); }
    void read(const void* from, std::size_t bytes, void* to) override { std::memcpy(to, from, bytes); }
    std::int64_t differences(const void* one, const void* other, std::size_t bytes) override {
        return differing(one, other, bytes);
    }
    double time(const std::function<void()>& f) override {
        const auto begin = std::chrono::steady_clock::now();
        f();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    double move(const void*, std::size_t, std::size_t) override { return 0; }
    void lock_pages(const void*, std::size_t) override {}
    void unlock_pages(const void*) override {}
};

#if GNNTUNE_WITH_CUDA

class Cuda final : public Processor {
public:
    Cuda() : device_(cuda_device(0)) { GNNTUNE_CUDA(cudaSetDevice(0)); }
    bool is_cuda() const override { return true; }
    std::string name() const override { return device_.environment.device_name; }
    gnntune_stream stream() const override { return reinterpret_cast<gnntune_stream>(stream_.get()); }
    std::shared_ptr<void> allocate(std::size_t bytes) override {
        auto buffer = std::make_shared<DeviceBuffer<unsigned char>>(bytes);
        return {buffer, buffer->data()};
    }
    void fill(float* to, std::int64_t count,
              const std::function<void(std::int64_t, std::int64_t, float*)>& fill) override {
        constexpr std::int64_t kEach = kPiece / sizeof(float);
        for (std::int64_t first = 0; first < count; first += kEach) {
            const std::int64_t size = std::min(kEach, count - first);
            fill(first, size, static_cast<float*>(staging(0)));
            GNNTUNE_CUDA(cudaMemcpy(to + first, staging(0), static_cast<std::size_t>(size) * sizeof(float),
                                    cudaMemcpyHostToDevice));
        }
    }
    void set(void* to, unsigned char byte, std::size_t bytes) override {
        GNNTUNE_CUDA(cudaMemsetAsync(to, byte, bytes, stream_.get()));
        stream_.synchronize();
    }
    void read(const void* from, std::size_t bytes, void* to) override {
        GNNTUNE_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    }
    std::int64_t differences(const void* one, const void* other, std::size_t bytes) override {
        std::int64_t count = 0;
        for (std::size_t at = 0; at < bytes; at += kPiece) {
            const std::size_t size = std::min(kPiece, bytes - at);
            read(static_cast<const char*>(one) + at, size, staging(0));
            read(static_cast<const char*>(other) + at, size, staging(1));
            count += differing(staging(0), staging(1), size);
        }
        return count;
    }
    double time(const std::function<void()>& f) override {
        stream_.synchronize();
        begin_.record(stream_.get());
        f();
        end_.record(stream_.get());
        stream_.synchronize();
        return elapsed_us(begin_, end_) * 1e-6;
    }
    double move(const void* from, std::size_t bytes, std::size_t piece) override {
        const DeviceBuffer<unsigned char> there(2 * std::min(piece, bytes));
        return time([&] {
            bool second = false;
            for (std::size_t at = 0; at < bytes; at += piece) {
                auto* to = const_cast<unsigned char*>(there.data()) + (second ? piece : 0);
                GNNTUNE_CUDA(cudaMemcpyAsync(to, static_cast<const char*>(from) + at, std::min(piece, bytes - at),
                                             cudaMemcpyHostToDevice, stream_.get()));
                second = !second;
            }
        });
    }
    void lock_pages(const void* memory, std::size_t bytes) override {
        GNNTUNE_CUDA(cudaHostRegister(const_cast<void*>(memory), bytes, cudaHostRegisterDefault));
    }
    void unlock_pages(const void* memory) override { GNNTUNE_CUDA(cudaHostUnregister(const_cast<void*>(memory))); }

private:
    struct Free {
        void operator()(void* memory) const { GNNTUNE_CUDA_NOEXCEPT(cudaFreeHost(memory)); }
    };
    void* staging(std::size_t which) {
        if (!staging_[which]) {
            void* memory = nullptr;
            GNNTUNE_CUDA(cudaMallocHost(&memory, kPiece));
            staging_[which].reset(memory);
        }
        return staging_[which].get();
    }

    Device device_;
    CudaStream stream_;
    CudaEvent begin_;
    CudaEvent end_;
    std::unique_ptr<void, Free> staging_[2];
};

#endif

}  // namespace

void HostMemory::Free::operator()(void* memory) const {
    std::free(memory);
}

HostMemory::HostMemory(std::size_t bytes) : bytes_(bytes) {
    const std::size_t size = std::max<std::size_t>(1, (bytes + kLargePage - 1) / kLargePage) * kLargePage;
    data_.reset(std::aligned_alloc(kLargePage, size));
    if (!data_) throw std::bad_alloc();
    (void)madvise(data_.get(), size, MADV_HUGEPAGE);  // where there are none, small ones do
}

std::unique_ptr<Processor> processor(const std::string& name) {
    if (name == "cpu") return std::make_unique<Cpu>();
    if (name != "cuda") throw invalid_argument("--device " + name + ": expected cpu or cuda");
#if GNNTUNE_WITH_CUDA
    return std::make_unique<Cuda>();
#else
    throw Error(ErrorKind::no_device, "this build has no CUDA backend; give --device cpu");
#endif
}

}  // namespace gnntune::scale
