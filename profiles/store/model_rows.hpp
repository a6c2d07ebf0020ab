// Rows about whole models: what was chosen for training steps, and what ways of running their sums cost them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/fingerprint.hpp"
#include "core/registry/config.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"

namespace gnntune::store {

/// A config chosen for one call of a training step (core/dispatch/step.hpp).
struct StepCallChoice {
    Problem problem;
    int runs_per_step = 0;
    int runs_per_graph = 0;
    Config config;
    std::int32_t variant_version = 1;
    std::string formats;     ///< for people: "csr reversed, coo"; "none"
    double expected_us = 0;  ///< of one run
};
/// What was chosen for all calls of a training step together.
struct StepChoice {
    std::string step;  ///< to_text(Step)
    double expected_steps = 1;
    std::optional<std::int64_t> format_limit_bytes;
    std::string formats;  ///< the union
    std::int64_t format_bytes = 0;
    std::int64_t workspace_bytes = 0;  ///< the largest
    double build_us = 0;               ///< formats and plans, once
    double step_us = 0;                ///< the calls of one step
    std::string reason;
    std::vector<StepCallChoice> calls;  ///< in the order of calls_of()
};
struct StepChoiceRow {
    std::int64_t graph = 0;
    std::int64_t environment = 0;
    std::string graph_name;
    std::string device_name;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    StepChoice choice;
    std::int64_t run = 0;  ///< the run that decided
    std::string decided_at;
};
/// What a sum of a model ran with.
struct AccuracyCall {
    Problem problem;
    std::string rule;  ///< for people: "bucket S=32", "f16", "exact"
    Config config;
    std::int32_t variant_version = 1;
    double time_us = 0;
};
/// What a trained model keeps of its accuracy when its sums run in a way that is not exact; shares, not per cent.
struct AccuracyRow {
    std::int64_t graph = 0;
    std::int64_t environment = 0;
    std::string graph_name;
    Fingerprint fingerprint;
    std::string model;  ///< digest
    std::string model_name;
    std::string way;  ///< the rule of each sum, "; " between them
    std::int64_t models = 0;
    std::int64_t vertices = 0;
    double accuracy = 0;
    double exact_accuracy = 0;
    double loss = 0;
    double loss_low = 0;  ///< 95 % interval
    double loss_high = 0;
    double max_error = 0;
    double time_us = 0;  ///< of the sums of one forward pass
    double exact_us = 0;
    std::vector<AccuracyCall> calls;
    std::int64_t run = 0;
    std::string taken_at;
};

}  // namespace gnntune::store
