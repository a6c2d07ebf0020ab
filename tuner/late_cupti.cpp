// The functions of CUPTI that the tuner calls, each opened when it is first called, under the names and prototypes of
// CUPTI's headers (as core/gpu/late_cusparse.cpp does for cuSPARSE).
#include <cuda_runtime_api.h>
#include <cupti.h>

#include "core/gpu/late_library.hpp"
#include "tuner/clocks.hpp"
#include "tuner/cupti.hpp"
#if GNNTUNE_WITH_COUNTERS
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

namespace gnntune::tuner {

LateLibrary& cupti_library() {
    static LateLibrary library("libcupti", CUDART_VERSION / 1000);
    return library;
}

std::string cupti_location() {
    return cupti_library().location();
}

}  // namespace gnntune::tuner

#define GNNTUNE_LATE(name, parameters, arguments)                                                                    \
    CUptiResult CUPTIAPI name parameters {                                                                           \
        static const auto call = reinterpret_cast<decltype(&name)>(gnntune::tuner::cupti_library().function(#name)); \
        return call arguments;                                                                                       \
    }

extern "C" {

GNNTUNE_LATE(cuptiGetResultString, (CUptiResult result, const char** text), (result, text))
GNNTUNE_LATE(cuptiActivityEnable, (CUpti_ActivityKind kind), (kind))
GNNTUNE_LATE(cuptiActivityDisable, (CUpti_ActivityKind kind), (kind))
GNNTUNE_LATE(cuptiActivityFlushAll, (uint32_t flag), (flag))
GNNTUNE_LATE(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t bytes, CUpti_Activity** record),
             (buffer, bytes, record))
GNNTUNE_LATE(cuptiActivityPushExternalCorrelationId, (CUpti_ExternalCorrelationKind kind, uint64_t id), (kind, id))
GNNTUNE_LATE(cuptiActivityPopExternalCorrelationId, (CUpti_ExternalCorrelationKind kind, uint64_t* last), (kind, last))
GNNTUNE_LATE(cuptiActivityRegisterCallbacks,
             (CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed),
             (requested, completed))

#if GNNTUNE_WITH_COUNTERS
#define GNNTUNE_LATE_OF(name, type) GNNTUNE_LATE(name, (type * params), (params))

GNNTUNE_LATE_OF(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params)
GNNTUNE_LATE_OF(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params)
GNNTUNE_LATE_OF(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params)
GNNTUNE_LATE_OF(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params)
GNNTUNE_LATE_OF(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)
GNNTUNE_LATE_OF(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params)
GNNTUNE_LATE_OF(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)
GNNTUNE_LATE_OF(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
GNNTUNE_LATE_OF(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params)
GNNTUNE_LATE_OF(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params)

#undef GNNTUNE_LATE_OF
#endif

}  // extern "C"

#undef GNNTUNE_LATE
