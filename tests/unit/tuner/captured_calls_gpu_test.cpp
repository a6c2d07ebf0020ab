// Policy::graph: copies captured in a CUDA graph, launched and timed by both clocks.
#include "tuner/measuring/captured_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "core/common/error.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/registry/device.hpp"
#include "tuner/clocks.hpp"
#include "tuner/measuring/gpu_tools.hpp"

namespace gnntune::tuner {
namespace {

class CapturedCallsGpu : public testing::Test {
protected:
    void SetUp() override {
        if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
        stream_.emplace();
    }
    std::optional<CudaStream> stream_;
};

TEST_F(CapturedCallsGpu, ALaunchMakesEveryCall) {
    DeviceBuffer<unsigned char> source(1 << 20);
    DeviceBuffer<unsigned char> target(source.size());
    int calls = 0;
    const CapturedCalls captured(
        [&] {
            ++calls;
            enqueue_copy(stream_->get(), source.data(), target.data(), source.size());
        },
        stream_->get());
    EXPECT_EQ(calls, CapturedCalls::kCalls);

    GNNTUNE_CUDA(cudaMemsetAsync(source.data(), 7, source.size(), stream_->get()));
    GNNTUNE_CUDA(cudaMemsetAsync(target.data(), 0, target.size(), stream_->get()));
    captured.launch();
    unsigned char last = 0;
    GNNTUNE_CUDA(cudaMemcpyAsync(&last, target.data() + target.size() - 1, 1, cudaMemcpyDeviceToHost, stream_->get()));
    stream_->synchronize();
    EXPECT_EQ(last, 7);
    EXPECT_EQ(calls, CapturedCalls::kCalls) << "a launch runs what was captured";
}

TEST_F(CapturedCallsGpu, BothClocksTimeAllCalls) {
    const Device device = cuda_device(0);
    DeviceBuffer<unsigned char> source(64U << 20);
    DeviceBuffer<unsigned char> target(source.size());
    const auto copy = [&] { enqueue_copy(stream_->get(), source.data(), target.data(), source.size()); };
    const CapturedCalls captured(copy, stream_->get());
    for (const Clock clock : usable_clocks(device, {}).clocks) {
        const auto stopwatch = make_stopwatch(clock, device, stream_->get());
        const auto median = [&](const std::function<void()>& call, Policy policy) {
            auto times = stopwatch->time(call, 5, policy);
            std::sort(times.begin(), times.end());
            return times[2];
        };
        (void)median(copy, Policy::hot);
        const double one = median(copy, Policy::hot);
        const double in_graph = median([&] { captured.launch(); }, Policy::graph) / CapturedCalls::kCalls;
        EXPECT_NEAR(in_graph, one, 0.3 * one) << to_text(clock);
    }
}

TEST_F(CapturedCallsGpu, WhatCannotBeCapturedSaysSoAndLeavesTheStreamUsable) {
    try {
        const CapturedCalls captured([&] { GNNTUNE_CUDA(cudaStreamSynchronize(stream_->get())); }, stream_->get());
        FAIL() << "a synchronisation was captured";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::unsupported);
        EXPECT_NE(std::string(e.what()).find("cannot be captured"), std::string::npos) << e.what();
    }
    DeviceBuffer<unsigned char> target(16);
    GNNTUNE_CUDA(cudaMemsetAsync(target.data(), 1, target.size(), stream_->get()));
    stream_->synchronize();
}

}  // namespace
}  // namespace gnntune::tuner
