// Between rows and values: column lists and the readers that go with them. Inside profiles/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/common/error.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::store {

/// A row that this build cannot read: it has a word of a later version, or a text that somebody has damaged. Who reads
/// a list passes it over and says so (Store::Impl::reads).
class UnreadableRow : public Error {
public:
    explicit UnreadableRow(const std::string& message) : Error(ErrorKind::database, message) {}
};

inline constexpr std::string_view kEnvironmentColumns =
    "backend, device_name, compute_capability, multiprocessors, memory_bytes, l2_bytes, driver, cuda_runtime, "
    "libraries";
inline constexpr std::string_view kEnvironmentMatch =
    "backend = ? AND device_name = ? AND compute_capability = ? AND multiprocessors = ? AND memory_bytes = ? AND "
    "l2_bytes = ? AND driver = ? AND cuda_runtime = ? AND libraries = ?";
inline constexpr std::string_view kProblemColumns = "op, k, heads, dtype, reduce, weighted, direction, self_loop";
inline constexpr std::string_view kProblemMatch =
    "op = ? AND k = ? AND heads = ? AND dtype = ? AND reduce = ? AND weighted = ? AND direction = ? AND self_loop = ?";
inline constexpr std::string_view kMeasurementColumns =
    "config, variant_version, policy, clock, status, reason, median_us, q1_us, q3_us, min_us, ci_low_us, ci_high_us, "
    "samples, sm_clock_mhz, prepare_us, workspace_bytes, format_bytes, deterministic, approximate, max_error, "
    "mean_error, "
    "worst_ratio, taken_at";

// Conditions that the rows of a sound file never meet.

/// On `measurement`: numbers that no measuring gives.
inline constexpr std::string_view kImpossibleNumbers =
    "((status = 'ok' AND (median_us + q1_us + q3_us + min_us + ci_low_us + ci_high_us IS NULL OR median_us > 1e15 OR "
    "samples < 1 OR ci_low_us > median_us OR ci_high_us < median_us OR min_us > median_us OR min_us <= 0)) OR "
    "prepare_us < 0 OR prepare_us > 1e15 OR workspace_bytes < 0 OR format_bytes < 0)";
/// On `choice`: measured, and no ok measurement bears it out.
inline constexpr std::string_view kUnsupportedChoice =
    "(choice.source = 'measured' AND NOT EXISTS (SELECT 1 FROM measurement AS m WHERE m.graph_id = choice.graph_id "
    "AND m.environment_id = choice.environment_id AND m.problem_id = choice.problem_id AND m.policy = choice.policy "
    "AND m.clock = choice.clock AND m.config = choice.config AND m.variant_version = choice.variant_version "
    "AND m.status = 'ok'))";
/// On `step_call` joined with its `step_choice`: the same.
inline constexpr std::string_view kUnsupportedStepCall =
    "NOT EXISTS (SELECT 1 FROM measurement AS m WHERE m.graph_id = step_choice.graph_id AND m.environment_id = "
    "step_choice.environment_id AND m.problem_id = step_call.problem_id AND m.policy = step_choice.policy AND "
    "m.clock = step_choice.clock AND m.config = step_call.config AND m.variant_version = step_call.variant_version "
    "AND m.status = 'ok')";

// Each reads its columns in the order above, from column `first` on. They throw UnreadableRow for a word that this
// build does not know.
Environment read_environment(const Statement& row, int first);
Problem read_problem(const Statement& row, int first);
Measurement read_measurement(const Statement& row, int first);

Policy policy_from(std::string_view text);
Clock clock_from(std::string_view text);
Op op_from(std::string_view text);
Backend backend_from(std::string_view text);
/// Config::parse with UnreadableRow.
Config config_from(std::string_view text);
Fingerprint fingerprint_from(std::string_view text);

/// What is wrong with the bytes of a model, in words. Those of features of another version are for the programs that can
/// read them, unless their checksum says otherwise.
std::optional<std::string> complaint_of(const ModelRow& model);

/// JSON array of config texts.
std::string tied_text(const std::vector<Config>& tied);
std::vector<Config> tied_from(const std::string& text);

}  // namespace gnntune::store
