// Counters from CUPTI's range profiler: one range around a whole call, so that a config of several kernels has one sum
// and its rates are ratios of sums. The replay is ours: each pass is one more call, so caches stand as in timing.
//
// The profiler is enabled for a read only; in between, activity records see an undisturbed process.
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tuner/counter_reader.hpp"
#include "tuner/cupti.hpp"
#include "tuner/measuring/gpu_burst.hpp"
#include "tuner/metrics.hpp"

/// Declares the parameters of a CUPTI call, with their size filled in.
#define GNNTUNE_CUPTI_PARAMS(type, name) \
    type name{};                         \
    name.structSize = type##_STRUCT_SIZE

namespace gnntune::tuner {
namespace {

using Bytes = std::vector<std::uint8_t>;

CUcontext current_context() {
    using GetCurrent = CUresult (*)(CUcontext*);
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    // By the runtime, because the program does not link the driver: it starts on machines without one.
    GNNTUNE_CUDA(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 12000, cudaEnableDefault, &found));
    CUcontext context = nullptr;
    if (!function || reinterpret_cast<GetCurrent>(function)(&context) != CUDA_SUCCESS || !context) {
        throw Error(ErrorKind::runtime, "there is no CUDA context to count in; run gnntune doctor");
    }
    return context;
}

/// What CUPTI knows of a chip on the host: names of metrics, how to schedule them, how to read what was counted.
class ProfilerHost {
public:
    explicit ProfilerHost(int device) {
        GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, start);
        GNNTUNE_CUPTI(cuptiProfilerInitialize(&start));
        GNNTUNE_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, chip);
        chip.deviceIndex = static_cast<std::size_t>(device);
        GNNTUNE_CUPTI(cuptiDeviceGetChipName(&chip));
        GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, init);
        init.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
        init.pChipName = chip.pChipName;
        GNNTUNE_CUPTI(cuptiProfilerHostInitialize(&init));
        host_.reset(init.pHostObject);
        for (const std::string& name : metric_names()) {
            if (has(name)) metrics_.push_back(name);
        }
        for (const std::string& name : metrics_) names_.push_back(name.c_str());
        if (names_.empty()) throw unsupported(std::string("CUPTI knows no counter of the chip ") + chip.pChipName);
        GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
        add.pHostObject = host_.get();
        add.ppMetricNames = names_.data();
        add.numMetrics = names_.size();
        GNNTUNE_CUPTI(cuptiProfilerHostConfigAddMetrics(&add));
    }
    ProfilerHost(const ProfilerHost&) = delete;  // names_ points into metrics_
    ProfilerHost& operator=(const ProfilerHost&) = delete;

    const std::vector<const char*>& names() const { return names_; }

    /// How the metrics are spread over passes.
    Bytes config_image() const {
        GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
        size.pHostObject = host_.get();
        GNNTUNE_CUPTI(cuptiProfilerHostGetConfigImageSize(&size));
        Bytes image(size.configImageSize);
        GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
        get.pHostObject = host_.get();
        get.configImageSize = image.size();
        get.pConfigImage = image.data();
        GNNTUNE_CUPTI(cuptiProfilerHostGetConfigImage(&get));
        return image;
    }

    /// Of the first range.
    std::map<std::string, double> values(const Bytes& counted) {
        std::vector<double> numbers(names_.size());
        GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
        evaluate.pHostObject = host_.get();
        evaluate.pCounterDataImage = counted.data();
        evaluate.counterDataImageSize = counted.size();
        evaluate.ppMetricNames = names_.data();
        evaluate.numMetrics = names_.size();
        evaluate.pMetricValues = numbers.data();
        GNNTUNE_CUPTI(cuptiProfilerHostEvaluateToGpuValues(&evaluate));
        std::map<std::string, double> values;
        for (std::size_t i = 0; i < numbers.size(); ++i) values[metrics_[i]] = numbers[i];
        return values;
    }

private:
    bool has(const std::string& metric) const {
        GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, ask);
        ask.pHostObject = host_.get();
        ask.pMetricName = metric.c_str();
        return cuptiProfilerHostGetMetricProperties(&ask) == CUPTI_SUCCESS;
    }

    struct Deleter {
        void operator()(CUpti_Profiler_Host_Object* object) const {
            GNNTUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, end);
            end.pHostObject = object;
            (void)cuptiProfilerHostDeinitialize(&end);
        }
    };
    std::unique_ptr<CUpti_Profiler_Host_Object, Deleter> host_;
    std::vector<std::string> metrics_;
    std::vector<const char*> names_;
};

/// The profiler on the current context, enabled as long as this lives, with room for one range.
class Session {
public:
    Session(ProfilerHost& host, const Bytes& config) {
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
        enable.ctx = current_context();
        GNNTUNE_CUPTI(cuptiRangeProfilerEnable(&enable));
        profiler_.reset(enable.pRangeProfilerObject);

        auto names = host.names();
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
        size.pRangeProfilerObject = profiler_.get();
        size.pMetricNames = names.data();
        size.numMetrics = names.size();
        size.maxNumOfRanges = 1;
        size.maxNumRangeTreeNodes = 1;
        GNNTUNE_CUPTI(cuptiRangeProfilerGetCounterDataSize(&size));
        counted_.resize(size.counterDataSize);
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, init);
        init.pRangeProfilerObject = profiler_.get();
        init.counterDataSize = counted_.size();
        init.pCounterData = counted_.data();
        GNNTUNE_CUPTI(cuptiRangeProfilerCounterDataImageInitialize(&init));

        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
        set.pRangeProfilerObject = profiler_.get();
        set.configSize = config.size();
        set.pConfig = config.data();
        set.counterDataImageSize = counted_.size();
        set.pCounterDataImage = counted_.data();
        set.range = CUPTI_UserRange;
        set.replayMode = CUPTI_UserReplay;
        set.maxRangesPerPass = 1;
        set.numNestingLevels = 1;
        set.minNestingLevel = 1;
        GNNTUNE_CUPTI(cuptiRangeProfilerSetConfig(&set));
    }

    /// Counts what `work` does, which has ended when it returns. True if that was the last pass.
    bool pass(const std::function<void()>& work) {
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
        start.pRangeProfilerObject = profiler_.get();
        GNNTUNE_CUPTI(cuptiRangeProfilerStart(&start));
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
        push.pRangeProfilerObject = profiler_.get();
        push.pRangeName = "call";
        GNNTUNE_CUPTI(cuptiRangeProfilerPushRange(&push));
        work();
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
        pop.pRangeProfilerObject = profiler_.get();
        GNNTUNE_CUPTI(cuptiRangeProfilerPopRange(&pop));
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
        stop.pRangeProfilerObject = profiler_.get();
        GNNTUNE_CUPTI(cuptiRangeProfilerStop(&stop));
        return stop.isAllPassSubmitted != 0;
    }

    const Bytes& counted() {
        GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
        decode.pRangeProfilerObject = profiler_.get();
        GNNTUNE_CUPTI(cuptiRangeProfilerDecodeData(&decode));
        return counted_;
    }

private:
    struct Deleter {
        void operator()(CUpti_RangeProfiler_Object* object) const {
            GNNTUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, end);
            end.pRangeProfilerObject = object;
            (void)cuptiRangeProfilerDisable(&end);
        }
    };
    Bytes counted_;
    std::unique_ptr<CUpti_RangeProfiler_Object, Deleter> profiler_;  // goes first: it writes to counted_
};

class RangeProfiler : public CounterReader {
public:
    explicit RangeProfiler(const Device& device)
        : device_(device), host_(device.ordinal), config_(host_.config_image()) {}

    Counters read(const std::function<void()>& call, StreamHandle handle, Policy policy) override {
        const auto stream = static_cast<cudaStream_t>(handle);
        GNNTUNE_CUDA(cudaSetDevice(device_.ordinal));
        GpuBurst burst(device_, stream);
        call();
        GNNTUNE_CUDA(cudaStreamSynchronize(stream));
        Session session(host_, config_);
        for (bool last = false; !last;) {
            if (policy == Policy::cold) burst.flush();
            GNNTUNE_CUDA(cudaStreamSynchronize(stream));
            last = session.pass([&] {
                call();
                GNNTUNE_CUDA(cudaStreamSynchronize(stream));
            });
        }
        return counters_from(host_.values(session.counted()));
    }

private:
    Device device_;
    ProfilerHost host_;
    Bytes config_;
};

}  // namespace

std::unique_ptr<CounterReader> range_profiler(const Device& device) {
    return std::make_unique<RangeProfiler>(device);
}

}  // namespace gnntune::tuner
