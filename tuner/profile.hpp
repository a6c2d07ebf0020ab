// A config's measurement with its counters: measured where the store has no measurement, counted in any case.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/common/error.hpp"
#include "tuner/counter_reader.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {

/// What to profile.
struct ProfileTask {
    Problem problem;
    Config config;
    Policy policy = Policy::hot;
    Clock clock = Clock::span;
};

class Profiler {
public:
    Profiler(const Registry& registry, const Device& device, store::Store& store, std::uint64_t seed)
        : registry_(registry), device_(device), store_(store), seed_(seed) {}

    /// The newest measurement of the task's config with its counters, which are stored with it. If there is none that
    /// was timed to the end, measures the config, after the default config where nothing of the problem was measured;
    /// stores no choice. Throws ErrorKind::verification if the config is wrong on this graph, ErrorKind::unsupported or
    /// invalid_argument in words if it cannot run there. Without counters if CUPTI refuses them: why_not() says why.
    Measurement profile(GraphWorkload& graph, const GraphRecord& record, const ProfileTask& task, std::int64_t run);

    /// Why counters cannot be read, with ErrorKind::no_device if this user may not; nothing as long as they can.
    const std::optional<Error>& why_not() const { return why_not_; }

private:
    store::StoredMeasurement measured(GraphWorkload& graph, const GraphRecord& record, const ProfileTask& task,
                                      const store::Key& key, std::int64_t run);
    std::optional<store::StoredMeasurement> newest(const store::Key& key, const ProfileTask& task) const;
    std::optional<Counters> count(GraphWorkload& graph, const ProfileTask& task);

    const Registry& registry_;
    Device device_;
    store::Store& store_;
    std::uint64_t seed_;
    std::unique_ptr<CounterReader> reader_;  // made at first use
    std::optional<Error> why_not_;
};

}  // namespace gnntune::tuner
