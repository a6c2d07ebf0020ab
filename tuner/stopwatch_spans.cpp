// Spans from CUPTI activity records: a call's time runs from the start of its first kernel (or memset, or copy) to the
// end of its last, so that gaps between its launches count and the host's launch latency does not.
//
// Each call runs under an external correlation id of its own; CUPTI says which records belong to which id.
#include <algorithm>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "tuner/clocks.hpp"
#include "tuner/cupti.hpp"
#include "tuner/measuring/gpu_burst.hpp"

namespace gnntune::tuner {
namespace {

struct Span {
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t end = 0;
};

// Records of one burst. CUPTI calls back from a thread of its own.
struct Collector {
    std::mutex mutex;
    std::unordered_map<std::uint32_t, std::uint64_t> external_of;  // correlation id -> external id
    std::unordered_map<std::uint32_t, Span> span_of;               // correlation id -> times

    void clear() {
        const std::lock_guard lock(mutex);
        external_of.clear();
        span_of.clear();
    }
    void add(std::uint32_t correlation, std::uint64_t begin, std::uint64_t end) {
        Span& span = span_of[correlation];
        span.begin = std::min(span.begin, begin);
        span.end = std::max(span.end, end);
    }
};

Collector& collector() {
    static Collector c;
    return c;
}

constexpr std::size_t kBufferBytes = 4U << 20;

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
    *size = *buffer ? kBufferBytes : 0;
    *max_records = 0;
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
    Collector& c = collector();
    const std::lock_guard lock(c.mutex);
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        switch (record->kind) {
            case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
                const auto* k = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
                c.add(k->correlationId, k->start, k->end);
                break;
            }
            case CUPTI_ACTIVITY_KIND_MEMSET: {
                const auto* k = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
                c.add(k->correlationId, k->start, k->end);
                break;
            }
            case CUPTI_ACTIVITY_KIND_MEMCPY: {
                const auto* k = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
                c.add(k->correlationId, k->start, k->end);
                break;
            }
            case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
                const auto* k = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
                c.external_of[k->correlationId] = k->externalId;
                break;
            }
            default:
                break;
        }
    }
    std::free(buffer);
}

// External correlation ids are attached to records of API calls, so those have to be on too.
constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

class SpanStopwatch : public Stopwatch {
public:
    SpanStopwatch(const Device& device, cudaStream_t stream) : burst_(device, stream) {
        static const bool kRegistered = [] {
            GNNTUNE_CUPTI(cuptiActivityRegisterCallbacks(&buffer_requested, &buffer_completed));
            return true;
        }();
        (void)kRegistered;
        // Enabled for bursts only: tracing slows launches, and the other clock shares the process.
        for (const auto kind : kKinds) GNNTUNE_CUPTI(cuptiActivityEnable(kind));
        for (const auto kind : kKinds) GNNTUNE_CUPTI(cuptiActivityDisable(kind));
    }

    Clock clock() const override { return Clock::span; }

    std::vector<double> time(const std::function<void()>& call, int count, Policy policy) override {
        collector().clear();
        for (const auto kind : kKinds) GNNTUNE_CUPTI(cuptiActivityEnable(kind));
        burst_.begin(2 * count);
        for (int i = 0; i < count; ++i) {
            if (policy == Policy::cold) burst_.flush();
            constexpr auto kKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
            GNNTUNE_CUPTI(cuptiActivityPushExternalCorrelationId(kKind, static_cast<std::uint64_t>(i) + 1));
            call();
            std::uint64_t last = 0;
            GNNTUNE_CUPTI(cuptiActivityPopExternalCorrelationId(kKind, &last));
        }
        GNNTUNE_CUDA(cudaStreamSynchronize(burst_.stream()));
        GNNTUNE_CUPTI(cuptiActivityFlushAll(1));
        for (const auto kind : kKinds) GNNTUNE_CUPTI(cuptiActivityDisable(kind));
        return spans(count);
    }

private:
    static std::vector<double> spans(int count) {
        Collector& c = collector();
        const std::lock_guard lock(c.mutex);
        std::vector<Span> calls(static_cast<std::size_t>(count));
        for (const auto& [correlation, span] : c.span_of) {
            const auto external = c.external_of.find(correlation);
            if (external == c.external_of.end()) continue;  // the delay and the flushes
            Span& call = calls[external->second - 1];
            call.begin = std::min(call.begin, span.begin);
            call.end = std::max(call.end, span.end);
        }
        std::vector<double> times;
        for (const Span& call : calls) {
            if (call.end > call.begin) times.push_back(static_cast<double>(call.end - call.begin) / 1000.0);
        }
        if (times.size() != calls.size()) {
            throw Error(ErrorKind::runtime, "CUPTI gave activity records for " + std::to_string(times.size()) + " of " +
                                                std::to_string(calls.size()) + " calls; use --clock events");
        }
        return times;
    }

    GpuBurst burst_;
};

}  // namespace

std::unique_ptr<Stopwatch> span_stopwatch(const Device& device, StreamHandle stream) {
    return std::make_unique<SpanStopwatch>(device, static_cast<cudaStream_t>(stream));
}

}  // namespace gnntune::tuner
