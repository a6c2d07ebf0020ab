#include "tuner/measuring/stopwatch.hpp"

#include <algorithm>
#include <chrono>

#include "core/common/error.hpp"
#include "core/common/team.hpp"
#include "tuner/measuring/thread_watch.hpp"

namespace gnntune::tuner {
namespace {

class HostStopwatch : public Stopwatch {
public:
    explicit HostStopwatch(const Device& device)
        : flush_bytes_(static_cast<std::size_t>(std::max<std::int64_t>(device.l2_bytes, 1 << 20)) * 2) {}

    Clock clock() const override { return Clock::host; }

    std::vector<double> time(const std::function<void()>& call, int count, Policy policy) override {
        std::vector<double> times;
        lost_ = {};
        const ThreadWatch watch;
        if (watch.moved()) call();  // brings code and inputs to where they run now
        for (int i = 0; i < count; ++i) {
            if (policy == Policy::cold) flush_cache();
            const ThreadCounts before = watch.counts();
            const auto begin = std::chrono::steady_clock::now();
            call();
            const auto end = std::chrono::steady_clock::now();
            const double us = std::chrono::duration<double, std::micro>(end - begin).count();
            if (had_to_wait(before, watch.counts(), us)) {
                lost_ += {1, us};
            } else {
                times.push_back(us);
            }
        }
        return times;
    }
    LostCalls lost() const override { return lost_; }

private:
    void flush_cache() {
        flush_.resize(flush_bytes_);  // only the cold policy pays for it
        ++generation_;
        reserve_team(team_size());
#pragma omp parallel for
        for (std::size_t i = 0; i < flush_.size(); i += 64) flush_[i] = generation_;
    }

    std::size_t flush_bytes_;
    std::vector<unsigned char> flush_;
    unsigned char generation_ = 0;
    LostCalls lost_;
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

}  // namespace gnntune::tuner
