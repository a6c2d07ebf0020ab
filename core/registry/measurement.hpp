// What the tuner saw and what a dispatcher needs to choose: plain values, shared by tuner/, profiles/ and core/dispatch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/fingerprint.hpp"
#include "core/registry/config.hpp"
#include "core/registry/counters.hpp"
#include "core/registry/op.hpp"

namespace gnntune {

/// The device and software on which something was measured. Identity of an environment = all fields of this struct.
struct Environment {
    Backend backend = Backend::cuda;
    std::string device_name;           ///< "NVIDIA H200", or the CPU's model name
    std::string compute_capability;    ///< "9.0"; the instruction set ("x86-64 avx2") for a CPU
    std::int32_t multiprocessors = 0;  ///< SMs, or hardware threads
    std::int64_t memory_bytes = 0;
    std::int64_t l2_bytes = 0;  ///< last-level cache
    std::string driver;         ///< driver version text; empty for a CPU
    std::string cuda_runtime;   ///< "13.0"; empty for a CPU
    std::string libraries;      ///< "cusparse 12.6.3"; libraries whose kernels were timed

    bool operator==(const Environment&) const = default;
};

/// How a config was timed. Part of a measurement's identity.
enum class Policy : std::int32_t { hot, cold, graph };
/// Which clock read the time. Part of a measurement's identity; clocks are never mixed.
///   span:   CUPTI activity records, start of the first kernel to end of the last
///   events: CUDA events around one call
///   host:   steady clock around one call (cpu backend)
enum class Clock : std::int32_t { span, events, host };

std::string_view to_text(Policy policy);
std::string_view to_text(Clock clock);
std::optional<Policy> parse_policy(std::string_view text);
std::optional<Clock> parse_clock(std::string_view text);

/// Outcome of one attempt to check and time a config. Text forms are stored.
enum class MeasurementStatus : std::int32_t {
    ok,         ///< checked against the oracle and timed
    wrong,      ///< failed the oracle check; never timed, never chosen
    refused,    ///< the variant's applicable() said no; `reason` holds its words
    failed,     ///< an error was thrown (CUDA error, out of memory, ...)
    abandoned,  ///< timed, and given up early because it was hopeless; times are from few samples
};
std::string_view to_text(MeasurementStatus status);

/// The beginning of the reason of a `failed` attempt whose time could not be had, since other programs took the
/// processor. Such a row says nothing of the config: it never stands behind a row that does, and is measured again.
inline constexpr std::string_view kDisturbed = "disturbed: ";
/// The beginning of the reason of an `ok` attempt that ended before it had all of its samples. It counts, and `tune`
/// measures it again.
inline constexpr std::string_view kStoppedEarly = "stopped early: ";
std::optional<MeasurementStatus> parse_status(std::string_view text);

/// One timed (or failed) attempt.
struct Measurement {
    Config config;
    std::int32_t variant_version = 1;
    std::vector<PartVersion> parts;  ///< of a composition; the measurement falls with any of them
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    MeasurementStatus status = MeasurementStatus::ok;
    std::string reason;  ///< why, for every status but ok; for ok what speaks against its times, else empty

    // Times of one call, microseconds. Meaningful for ok and abandoned.
    double median_us = 0;
    double q1_us = 0;
    double q3_us = 0;
    double min_us = 0;
    double ci_low_us = 0;  ///< 95 % confidence interval of the median
    double ci_high_us = 0;
    std::int64_t samples = 0;
    std::int32_t sm_clock_mhz = 0;  ///< read beside the samples; 0 if it cannot be read

    // What the config needs beside its launch.
    double prepare_us = 0;  ///< building its formats and per-plan data from a CSR graph
    std::int64_t workspace_bytes = 0;
    std::int64_t format_bytes = 0;  ///< device (or host) memory held by its formats and plan
    bool deterministic = false;
    bool approximate = false;  ///< another answer by design: sampling, or products in less than fp32

    /// The time could not be had (kDisturbed).
    bool disturbed() const { return status == MeasurementStatus::failed && reason.starts_with(kDisturbed); }

    // Result of the oracle check on this graph.
    double max_error = 0;  ///< largest |y - ref| / scale over the elements
    double mean_error = 0;
    double worst_ratio = 0;  ///< largest |y - ref| / tolerance; passes at <= 1

    std::string taken_at;  ///< UTC, "2026-11-21T09:30:00Z"

    std::optional<Counters> counters;  ///< from a replay of their own, perhaps later; nothing if there was none
};

/// What building formats of a graph costs where the caller handed in nothing but `base`; intermediate formats included.
struct FormatBuild {
    std::string base;    ///< "csr" or "coo"
    std::string format;  ///< one format, or the formats that a variant needs together: "csr+coo_sorted"
    Direction direction = Direction::forward;
    double build_us = 0;     ///< wall time, device work included
    std::int64_t bytes = 0;  ///< held by the format

    bool operator==(const FormatBuild&) const = default;
};

/// "csr+coo_sorted"
std::string format_set_text(const std::vector<std::string_view>& formats);

/// What building `formats` together from `base` costs: as measured for the set, else the sum over its formats. Builds
/// that were not measured count nothing.
double total_build_us(const std::vector<FormatBuild>& builds, const std::vector<std::string_view>& formats,
                      std::string_view base, Direction direction);

/// A graph as the store knows it.
struct GraphRecord {
    Fingerprint fingerprint;
    std::int64_t n_rows = 0;
    std::int64_t n_cols = 0;
    std::int64_t m = 0;
    std::string name;           ///< how people call it: file stem, or standin/<name>
    std::string source;         ///< where it came from: path or generator recipe, and fix-ups applied
    std::string features_json;  ///< all features by name, canonical JSON object
};

/// The config named for a (graph, environment, problem, policy) and why.
struct Choice {
    Config config;
    std::int32_t variant_version = 1;
    std::string source;        ///< "measured", later "model"
    std::string reason;        ///< one sentence for people
    double expected_us = 0;    ///< its median in the deciding measurement
    std::vector<Config> tied;  ///< the others that were within the noise, best first
};

}  // namespace gnntune
