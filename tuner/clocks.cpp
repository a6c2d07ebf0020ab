#include "tuner/clocks.hpp"

#include <algorithm>

#include "core/common/error.hpp"

namespace gnntune::tuner {

#if !GNNTUNE_WITH_CUPTI
std::unique_ptr<Stopwatch> span_stopwatch(const Device&, StreamHandle) {
    throw unsupported("this build has no CUPTI, so spans cannot be timed; events are used");
}

std::string cupti_location() {
    return {};
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
