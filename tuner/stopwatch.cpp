#include "tuner/stopwatch.hpp"

#include <algorithm>
#include <chrono>

#include "core/common/error.hpp"

namespace gnntune::tuner {
namespace {

class HostStopwatch : public Stopwatch {
public:
    explicit HostStopwatch(const Device& device)
        : flush_bytes_(static_cast<std::size_t>(std::max<std::int64_t>(device.l2_bytes, 1 << 20)) * 2) {}

    Clock clock() const override { return Clock::host; }

    std::vector<double> time(const std::function<void()>& call, int count, Policy policy) override {
        std::vector<double> times;
        for (int i = 0; i < count; ++i) {
            if (policy == Policy::cold) flush_cache();
            const auto begin = std::chrono::steady_clock::now();
            call();
            const auto end = std::chrono::steady_clock::now();
            times.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
        }
        return times;
    }

private:
    void flush_cache() {
        flush_.resize(flush_bytes_);  // only the cold policy pays for it
        ++generation_;
#pragma omp parallel for
        for (std::size_t i = 0; i < flush_.size(); i += 64) flush_[i] = generation_;
    }

    std::size_t flush_bytes_;
    std::vector<unsigned char> flush_;
    unsigned char generation_ = 0;
};

}  // namespace

std::unique_ptr<Stopwatch> host_stopwatch(const Device& device) {
    return std::make_unique<HostStopwatch>(device);
}

#if !GNNTUNE_WITH_CUDA
std::unique_ptr<Stopwatch> event_stopwatch(const Device&, StreamHandle) {
    throw unsupported("this build has no CUDA backend and so no CUDA events");
}
#endif

#if !GNNTUNE_WITH_CUPTI
std::unique_ptr<Stopwatch> span_stopwatch(const Device&, StreamHandle) {
    throw unsupported("this build has no CUPTI, so spans cannot be timed; events are used");
}
#endif

std::unique_ptr<Stopwatch> make_stopwatch(Clock clock, const Device& device, StreamHandle stream) {
    switch (clock) {
        case Clock::span:
            return span_stopwatch(device, stream);
        case Clock::events:
            return event_stopwatch(device, stream);
        case Clock::host:
            return host_stopwatch(device);
    }
    throw unsupported("unknown clock");
}

Clocks usable_clocks(const Device& device, const std::vector<Clock>& wanted) {
    Clocks result;
    if (device.backend == Backend::cpu) {
        result.clocks = {Clock::host};
        return result;
    }
    for (const Clock clock : {Clock::span, Clock::events}) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), clock) == wanted.end()) continue;
        try {
            (void)make_stopwatch(clock, device, nullptr);
            result.clocks.push_back(clock);
        } catch (const Error& e) {
            result.warnings.push_back(e.what());
        }
    }
    if (result.clocks.empty()) result.clocks = {Clock::events};
    return result;
}

}  // namespace gnntune::tuner
