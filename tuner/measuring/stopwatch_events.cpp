#include "core/gpu/stream.hpp"
#include "tuner/measuring/gpu_burst.hpp"
#include "tuner/measuring/stopwatch.hpp"

namespace gnntune::tuner {
namespace {

// One pair of events per call. An empty kernel costs about 4.4 us so: figures carry the clock's name.
class EventStopwatch : public Stopwatch {
public:
    EventStopwatch(const Device& device, cudaStream_t stream) : burst_(device, stream) {}

    Clock clock() const override { return Clock::events; }

    std::vector<double> time(const std::function<void()>& call, int count, Policy policy) override {
        while (events_.size() < static_cast<std::size_t>(count) * 2) events_.emplace_back();
        burst_.begin(count);
        for (int i = 0; i < count; ++i) {
            if (policy == Policy::cold) burst_.flush();
            const auto at = static_cast<std::size_t>(i) * 2;
            events_[at].record(burst_.stream());
            call();
            events_[at + 1].record(burst_.stream());
        }
        GNNTUNE_CUDA(cudaStreamSynchronize(burst_.stream()));
        std::vector<double> times;
        for (int i = 0; i < count; ++i) {
            const auto at = static_cast<std::size_t>(i) * 2;
            times.push_back(elapsed_us(events_[at], events_[at + 1]));
        }
        return times;
    }

private:
    GpuBurst burst_;
    std::vector<CudaEvent> events_;
};

}  // namespace

std::unique_ptr<Stopwatch> event_stopwatch(const Device& device, StreamHandle stream) {
    return std::make_unique<EventStopwatch>(device, static_cast<cudaStream_t>(stream));
}

}  // namespace gnntune::tuner
