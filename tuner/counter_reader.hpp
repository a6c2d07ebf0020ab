// Hardware counters of a call, taken in runs of their own: never while something is timed.
#pragma once

#include <functional>
#include <memory>

#include "core/registry/counters.hpp"
#include "core/registry/device.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::tuner {

class CounterReader {
public:
    virtual ~CounterReader() = default;
    /// Counters of one `call`, which enqueues work on `stream`. Makes it once to warm up, then once for each pass that
    /// the counters need; Policy::cold flushes L2 before each. Throws ErrorKind::no_device if this user may not read
    /// counters, ErrorKind::unsupported if CUPTI refuses for another reason.
    virtual Counters read(const std::function<void()>& call, StreamHandle stream, Policy policy) = 0;
};

/// Of a CUDA device, by CUPTI's range profiler (range_profiler.cpp). Part of the build where the toolkit has it.
std::unique_ptr<CounterReader> range_profiler(const Device& device);
/// Of a device. Throws ErrorKind::no_device for the CPU, ErrorKind::unsupported in words where the build or the chip
/// has no counters.
std::unique_ptr<CounterReader> counter_reader(const Device& device);

}  // namespace gnntune::tuner
