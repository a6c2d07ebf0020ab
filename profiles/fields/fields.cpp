#include "profiles/fields/fields.hpp"

#include "core/common/error.hpp"
#include "core/registry/errata.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/op.hpp"

namespace gnntune::store {
namespace {

using enum FieldType;

constexpr double kInt32 = std::numeric_limits<std::int32_t>::max();
constexpr double kInt64 = 9.3e18;  // beyond every number of 64 bits

bool is_op(std::string_view word) {
    return parse_op(word).has_value();
}
bool is_backend(std::string_view word) {
    return parse_backend(word).has_value();
}
bool is_dtype(std::string_view word) {
    return parse_dtype(word).has_value();
}
bool is_reduce(std::string_view word) {
    return parse_reduce(word).has_value();
}
bool is_direction(std::string_view word) {
    return parse_direction(word).has_value();
}
bool is_policy(std::string_view word) {
    return parse_policy(word).has_value();
}
bool is_clock(std::string_view word) {
    return parse_clock(word).has_value();
}
bool is_status(std::string_view word) {
    return parse_status(word).has_value();
}
bool is_condition(std::string_view text) {
    try {
        return condition_text(parse_erratum(text, "any")) == text;
    } catch (const Error&) {
        return false;
    }
}
bool is_identity(std::string_view text) {
    return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool is_base(std::string_view word) {
    return word == "csr" || word == "coo";
}

constexpr Field kPolicy{"policy", word, false, 0, 0, is_policy};
constexpr Field kClock{"clock", word, false, 0, 0, is_clock};
constexpr Field kVersion{"variant_version", integer, false, 1, kInt32};

constexpr Field bytes_from_0(std::string_view column) {
    return {column, integer, false, 0, kInt64};
}
constexpr Field real_from_0(std::string_view column) {
    return {column, real, false, 0};
}
constexpr Field time_of_call(std::string_view column) {
    return {column, real, true, 0};
}

constexpr Field kGraphNameFields[] = {{"name"}, {"source"}};
constexpr ChildTable kGraphChildren[] = {{"graph_name", "graph_id", false, kGraphNameFields, "name"}};
constexpr Field kGraphFields[] = {{"fingerprint", fingerprint},
                                  {"n_rows", integer, false, 0, kInt32},
                                  {"n_cols", integer, false, 0, kInt32},
                                  {"m", integer, false, 0, kInt32},
                                  {"name"},
                                  {"source"},
                                  {"features", json_object}};

constexpr Field kEnvironmentFields[] = {{"id", number},
                                        {"backend", word, false, 0, 0, is_backend},
                                        {"device_name"},
                                        {"compute_capability"},
                                        {"multiprocessors", integer, false, 0, kInt32},
                                        bytes_from_0("memory_bytes"),
                                        bytes_from_0("l2_bytes"),
                                        {"driver"},
                                        {"cuda_runtime"},
                                        {"libraries"}};

constexpr Field kVariantFields[] = {{"id"},
                                    {"version", integer, false, 1, kInt32},
                                    {"op", word, true, 0, 0, is_op},
                                    {"backend", word, true, 0, 0, is_backend},
                                    {"deterministic", boolean, true},
                                    {"approximate", boolean, true}};

constexpr Field kProblemFields[] = {{"text", name},
                                    {"op", word, false, 0, 0, is_op},
                                    {"k", integer, false, 1, kInt32},
                                    {"heads", integer, false, 1, kInt32},
                                    {"dtype", word, false, 0, 0, is_dtype},
                                    {"reduce", word, false, 0, 0, is_reduce},
                                    {"weighted", boolean},
                                    {"direction", word, false, 0, 0, is_direction},
                                    {"self_loop", boolean}};

constexpr Field kIdentityFields[] = {{"identity", word, false, 0, 0, is_identity}};
constexpr ChildTable kRunChildren[] = {{"run_identity", "run_id", false, kIdentityFields, "identity"}};
constexpr Field kRunFields[] = {{"id", number},          {"command"},
                                {"tool_version"},        {"git_commit"},
                                {"started_at", instant}, {"ended_at", instant, true},
                                {"seed", integer},       {"host"}};

constexpr Field kPartFields[] = {{"config", config}, kVersion};
constexpr Field kCountersOfDocument[] = {{"name"}, {"value", real}, {"taken_at", instant}};
constexpr ChildTable kMeasurementChildren[] = {{"part", "measurement_id", true, kPartFields, "position"},
                                               {"counter", "measurement_id", false, kCountersOfDocument, "name"}};
constexpr Field kMeasurementFields[] = {{"graph", graph},
                                        {"environment", environment},
                                        {"problem", problem},
                                        {"run", run},
                                        {"config", config},
                                        kVersion,
                                        kPolicy,
                                        kClock,
                                        {"status", word, false, 0, 0, is_status},
                                        {"reason"},
                                        time_of_call("median_us"),
                                        time_of_call("q1_us"),
                                        time_of_call("q3_us"),
                                        time_of_call("min_us"),
                                        time_of_call("ci_low_us"),
                                        time_of_call("ci_high_us"),
                                        {"samples", integer, false, 0, kInt64},
                                        {"sm_clock_mhz", integer, false, 0, kInt32},
                                        real_from_0("prepare_us"),
                                        bytes_from_0("workspace_bytes"),
                                        bytes_from_0("format_bytes"),
                                        {"deterministic", boolean},
                                        {"approximate", boolean},
                                        {"max_error", error, true, 0},
                                        {"mean_error", error, true, 0},
                                        {"worst_ratio", error, true, 0},
                                        {"taken_at", instant}};

constexpr Field kChoiceFields[] = {{"graph", graph},
                                   {"environment", environment},
                                   {"problem", problem},
                                   kPolicy,
                                   kClock,
                                   {"config", config},
                                   kVersion,
                                   {"source"},
                                   {"reason"},
                                   real_from_0("expected_us"),
                                   {"tied", configs},
                                   {"run", run},
                                   {"decided_at", instant}};

constexpr Field kStepCallFields[] = {{"problem", problem},
                                     {"runs_per_step", integer, false, 0, kInt32},
                                     {"runs_per_graph", integer, false, 0, kInt32},
                                     {"config", config},
                                     kVersion,
                                     {"formats"},
                                     real_from_0("expected_us")};
constexpr ChildTable kStepChildren[] = {{"step_call", "step_choice_id", true, kStepCallFields, "position"}};
constexpr Field kStepFields[] = {{"graph", graph},
                                 {"environment", environment},
                                 {"step"},
                                 kPolicy,
                                 kClock,
                                 real_from_0("expected_steps"),
                                 {"format_limit_bytes", integer, true, 0, kInt64},
                                 {"formats"},
                                 bytes_from_0("format_bytes"),
                                 bytes_from_0("workspace_bytes"),
                                 real_from_0("build_us"),
                                 real_from_0("step_us"),
                                 {"reason"},
                                 {"run", run},
                                 {"decided_at", instant}};

constexpr Field kFormatBuildFields[] = {{"graph", graph},
                                        {"environment", environment},
                                        {"base", word, false, 0, 0, is_base},
                                        {"format"},
                                        {"direction", word, false, 0, 0, is_direction},
                                        real_from_0("build_us"),
                                        bytes_from_0("bytes"),
                                        {"taken_at", instant}};

constexpr Field kConstantFields[] = {{"environment", environment}, {"name"},        bytes_from_0("table_bytes"),
                                     bytes_from_0("row_bytes"),    {"value", real}, {"unit"},
                                     {"taken_at", instant}};

constexpr Field kModelFields[] = {{"op", word, false, 0, 0, is_op},
                                  {"backend", word, false, 0, 0, is_backend},
                                  kPolicy,
                                  kClock,
                                  {"feature_version", integer, false, 0, kInt32},
                                  {"bytes", bytes},
                                  {"training", json_object},
                                  {"scores", json_object},
                                  {"tool_version"},
                                  {"git_commit"},
                                  {"fitted_at", instant}};

constexpr Field kErratumFields[] = {{"condition", word, false, 0, 0, is_condition}, {"reason"}, {"added_at", instant}};

constexpr Field kRemovedFields[] = {{"condition", word, false, 0, 0, is_condition}, {"removed_at", instant}};

constexpr Field kAccuracyCallFields[] = {
    {"problem", problem}, {"rule"}, {"config", config}, kVersion, real_from_0("time_us")};
constexpr ChildTable kAccuracyChildren[] = {{"accuracy_call", "accuracy_id", true, kAccuracyCallFields, "position"}};
constexpr Field kAccuracyFields[] = {{"graph", graph},
                                     {"environment", environment},
                                     {"model", word, false, 0, 0, is_identity},
                                     {"model_name"},
                                     {"way"},
                                     {"models", integer, false, 1, kInt32},
                                     {"vertices", integer, false, 1, kInt32},
                                     real_from_0("accuracy"),
                                     real_from_0("exact_accuracy"),
                                     {"loss", real},
                                     {"loss_low", real},
                                     {"loss_high", real},
                                     real_from_0("max_error"),
                                     real_from_0("time_us"),
                                     real_from_0("exact_us"),
                                     {"run", run},
                                     {"taken_at", instant}};

// What the order goes by beside the table's own columns.
constexpr std::string_view kJoinGraph = "LEFT JOIN (SELECT id AS graph_id, fingerprint FROM graph) USING (graph_id)";
constexpr std::string_view kJoinBoth =
    "LEFT JOIN (SELECT id AS graph_id, fingerprint FROM graph) USING (graph_id) "
    "LEFT JOIN (SELECT id AS problem_id, op, k, heads, dtype, reduce, weighted, direction, self_loop FROM problem) "
    "USING (problem_id)";

// Environments, runs and measurements stand in the order in which they came: the newest of several counts. All others
// stand in the order of what makes them one of a kind.
constexpr Section kSections[] = {
    {"graph", true, kGraphFields, kGraphChildren, "", "fingerprint"},
    {"environment", true, kEnvironmentFields, {}, "", "id"},
    {"variant", false, kVariantFields, {}, "", "id, version"},
    {"problem", true, kProblemFields, {}, "", "op, k, heads, dtype, reduce, weighted, direction, self_loop"},
    {"run", true, kRunFields, kRunChildren, "", "id"},
    {"measurement", true, kMeasurementFields, kMeasurementChildren, "", "id"},
    {"choice",
     true,
     kChoiceFields,
     {},
     kJoinBoth,
     "fingerprint, environment_id, op, k, heads, dtype, reduce, weighted, direction, self_loop, policy, clock"},
    {"step_choice", true, kStepFields, kStepChildren, kJoinGraph, "fingerprint, environment_id, step, policy, clock"},
    {"format_build", false, kFormatBuildFields, {}, kJoinGraph, "fingerprint, environment_id, base, format, direction"},
    {"device_constant", false, kConstantFields, {}, "", "environment_id, name, table_bytes, row_bytes"},
    {"model", true, kModelFields, {}, "", "op, backend, policy, clock"},
    {"erratum", true, kErratumFields, {}, "", "condition"},
    {"removed_erratum", false, kRemovedFields, {}, "", "condition"},
    {"accuracy", true, kAccuracyFields, kAccuracyChildren, kJoinGraph, "fingerprint, environment_id, model, way"},
};

}  // namespace

std::span<const Section> document_sections() {
    return kSections;
}

std::string columns_of(const Field& field) {
    switch (field.type) {
        case number:
            return "";
        case config:
            return "config, variant";
        case graph:
        case environment:
        case problem:
        case run:
            return std::string(field.name) + "_id";
        default:
            return std::string(field.name);
    }
}

std::string columns_of(std::span<const Field> fields) {
    std::string out;
    for (const Field& field : fields) {
        const std::string columns = columns_of(field);
        if (!columns.empty()) out += (out.empty() ? "" : ", ") + columns;
    }
    return out;
}

}  // namespace gnntune::store
