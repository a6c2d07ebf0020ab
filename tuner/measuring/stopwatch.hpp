// A stopwatch times single calls, some at a time; which clock it is goes with every number it gives.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/registry/device.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::tuner {

/// Calls that do not count: a thread of theirs waited for a processor that others had (thread_watch.hpp).
struct LostCalls {
    int calls = 0;
    double us = 0;  ///< that they took

    LostCalls& operator+=(const LostCalls& other) {
        calls += other.calls;
        us += other.us;
        return *this;
    }
};

class Stopwatch {
public:
    virtual ~Stopwatch() = default;
    virtual Clock clock() const = 0;
    /// Makes `count` calls and returns the time of each that counts, microseconds. Policy::hot: back to back, inputs as the last
    /// run left them. Policy::graph: likewise; a call is the launch of a CUDA graph. Policy::cold: the last-level cache
    /// is flushed before each call, outside of the time.
    virtual std::vector<double> time(const std::function<void()>& call, int count, Policy policy) = 0;
    /// Those of the last time() that do not count. On a GPU there are none.
    virtual LostCalls lost() const { return {}; }
};

/// Steady clock of the host around each call: for the cpu backend.
std::unique_ptr<Stopwatch> host_stopwatch(const Device& device);
/// CUDA events around each call. Throws ErrorKind::unsupported in a build without CUDA.
std::unique_ptr<Stopwatch> event_stopwatch(const Device& device, StreamHandle stream);

}  // namespace gnntune::tuner
