// Counters of copies, whose bytes are known, and the clock of spans before and after them in the same process.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "core/common/error.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/registry/device.hpp"
#include "tuner/clocks.hpp"
#include "tuner/counter_reader.hpp"
#include "tuner/measuring/gpu_tools.hpp"

namespace gnntune::tuner {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

class CountersGpu : public testing::Test {
protected:
    void SetUp() override {
        if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
        device_ = cuda_device(0);
        stream_.emplace();
    }

    /// Counters of a copy of `bytes`; skips where they may not be read.
    void count(std::size_t bytes, Policy policy) {
        source_ = DeviceBuffer<unsigned char>(bytes);
        target_ = DeviceBuffer<unsigned char>(bytes);
        try {
            if (!reader_) reader_ = counter_reader(device_);
            counters_ = reader_->read([this] { copy(); }, stream_->get(), policy);
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::no_device && e.kind() != ErrorKind::unsupported) throw;
            GTEST_SKIP() << e.what();
        }
    }
    void copy() { enqueue_copy(stream_->get(), source_.data(), target_.data(), source_.size()); }

    static void expect_near(std::optional<double> counted, double expected, double share, const char* what) {
        ASSERT_TRUE(counted.has_value()) << what;
        EXPECT_NEAR(*counted / kMebi, expected / kMebi, share * expected / kMebi) << what;
    }

    Device device_;
    std::optional<CudaStream> stream_;
    DeviceBuffer<unsigned char> source_;
    DeviceBuffer<unsigned char> target_;
    std::unique_ptr<CounterReader> reader_;
    Counters counters_;
};

TEST_F(CountersGpu, ALargeCopyMovesItsBytesThroughEveryLevel) {
    const std::size_t bytes = static_cast<std::size_t>(device_.l2_bytes) * 16 / 4096 * 4096;
    ASSERT_NO_FATAL_FAILURE(count(bytes, Policy::hot));
    if (IsSkipped()) return;
    const auto n = static_cast<double>(bytes);

    expect_near(counters_.dram_read_bytes, n, 0.1, "DRAM read");
    expect_near(counters_.dram_write_bytes, n, 0.1, "DRAM written");
    expect_near(counters_.l2_read_sectors, n / 32, 0.01, "L2 read");
    expect_near(counters_.l2_write_sectors, n / 32, 0.01, "L2 written");
    EXPECT_EQ(counters_.l2_reduction_sectors, 0);
    EXPECT_EQ(counters_.tensor_instructions, 0);
    for (const auto share : {counters_.occupancy_percent, counters_.issue_percent, counters_.l1_pipe_percent}) {
        ASSERT_TRUE(share.has_value());
        EXPECT_GT(*share, 0);
        EXPECT_LE(*share, 101);
    }
    EXPECT_GT(counters_.sm_active_us.value_or(0), 0);
}

TEST_F(CountersGpu, ACopyInL2LeavesDramAloneUnlessItIsFlushed) {
    const std::size_t bytes = static_cast<std::size_t>(device_.l2_bytes) / 16 / 4096 * 4096;
    const auto n = static_cast<double>(bytes);
    ASSERT_NO_FATAL_FAILURE(count(bytes, Policy::hot));
    if (IsSkipped()) return;
    expect_near(counters_.l2_read_sectors, n / 32, 0.01, "L2 read");
    EXPECT_LT(counters_.dram_read_bytes.value_or(n) / n, 0.25) << "hot";

    ASSERT_NO_FATAL_FAILURE(count(bytes, Policy::cold));
    expect_near(counters_.dram_read_bytes, n, 0.25, "DRAM read, cold");
}

TEST_F(CountersGpu, SpansAreTimedBeforeAndAfterCounting) {
    std::unique_ptr<Stopwatch> spans;
    try {
        spans = span_stopwatch(device_, stream_->get());
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::no_device && e.kind() != ErrorKind::unsupported) throw;
        GTEST_SKIP() << e.what();
    }
    const std::size_t bytes = static_cast<std::size_t>(device_.l2_bytes) * 4 / 4096 * 4096;
    ASSERT_NO_FATAL_FAILURE(count(bytes, Policy::hot));
    if (IsSkipped()) return;
    const auto fastest = [&] {
        const auto times = spans->time([this] { copy(); }, 20, Policy::hot);
        return *std::min_element(times.begin(), times.end());
    };
    const double before = fastest();
    ASSERT_NO_FATAL_FAILURE(count(bytes, Policy::hot));
    const double after = fastest();

    EXPECT_NEAR(after / before, 1, 0.1);
}

}  // namespace
}  // namespace gnntune::tuner
