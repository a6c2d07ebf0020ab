// What a cost model learns from and is judged by: the measurements of a store, by problem.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::tuner {

/// A config that was timed on a problem.
struct TimedConfig {
    Config config;
    double us = 0;           ///< median
    bool candidate = false;  ///< of the class that is judged: its precision, every edge, capturable, searched
    bool abandoned = false;  ///< given up early: slow, and how slow is known from few samples. Never the fastest
};

/// A problem on a graph and a device, with the newest time of each config that still stands
/// (core/dispatch/candidates.hpp).
struct TrainingProblem {
    std::string graph;        ///< its name
    std::string fingerprint;  ///< of the graph: what splits are made by
    Problem problem;
    Device device;
    DeviceConstants constants;
    std::shared_ptr<const Features> features;
    std::vector<TimedConfig> configs;
    Precision precision = Precision::fp32;  ///< of the candidates
    double best_log_us = 0;                 ///< natural logarithm of the fastest candidate's time

    Query query() const;
};

struct TrainingFilter {
    Op op = Op::spmm;
    Backend backend = Backend::cuda;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    /// Class of the candidates: variants that compute in this precision. fp32: what one who allows no error may choose.
    Precision precision = Precision::fp32;
    /// Only problems on which every candidate of the variants' own spaces was tried. Where one is missing another one is
    /// taken for the fastest, and slowdowns are measured from that.
    bool complete = false;
};

/// What was passed over.
struct LeftOut {
    int without_features = 0;               ///< graphs whose features the store does not have
    int incomplete = 0;                     ///< problems, where the filter wants complete ones
    std::map<std::string, int> by_variant;  ///< of them, how many lack configs of a variant, by its id
};

/// Problems with at least one candidate, in order of graph, environment and problem. `left_out`, if given, says what
/// was passed over.
std::vector<TrainingProblem> training_problems(const store::Store& store, const Registry& registry,
                                               const TrainingFilter& filter, LeftOut* left_out = nullptr);

/// A device as far as its environment tells; its shared memory by its compute capability.
Device device_of(const Environment& environment);

}  // namespace gnntune::tuner
