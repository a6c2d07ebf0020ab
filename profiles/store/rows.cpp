#include "profiles/store/rows.hpp"

#include <limits>
#include <optional>

#include "core/common/error.hpp"
#include "core/model/model.hpp"
#include "core/model/model_features.hpp"
#include "profiles/fields/json_text.hpp"
#include "profiles/fields/json_value.hpp"

namespace gnntune::store {
namespace {

template <class T>
T known(const std::optional<T>& value, std::string_view what, std::string_view text) {
    if (value) return *value;
    throw UnreadableRow("the " + std::string(what) + " '" + std::string(text) +
                        "' is none that this gnntune knows; a newer one may");
}

}  // namespace

Policy policy_from(std::string_view text) {
    return known(parse_policy(text), "policy", text);
}
Clock clock_from(std::string_view text) {
    return known(parse_clock(text), "clock", text);
}
Op op_from(std::string_view text) {
    return known(parse_op(text), "op", text);
}

Backend backend_from(std::string_view text) {
    return known(parse_backend(text), "backend", text);
}

Config config_from(std::string_view text) {
    try {
        return Config::parse(text);
    } catch (const Error& error) {
        throw UnreadableRow(error.what());
    }
}

Fingerprint fingerprint_from(std::string_view text) {
    if (const auto fingerprint = Fingerprint::parse(text)) return *fingerprint;
    throw UnreadableRow("the fingerprint '" + std::string(text) + "' is none");
}

Environment read_environment(const Statement& row, int first) {
    Environment e;
    e.backend = backend_from(row.view(first));
    e.device_name = row.text(first + 1);
    e.compute_capability = row.text(first + 2);
    e.multiprocessors = row.integer32(first + 3);
    e.memory_bytes = row.integer(first + 4);
    e.l2_bytes = row.integer(first + 5);
    e.driver = row.text(first + 6);
    e.cuda_runtime = row.text(first + 7);
    e.libraries = row.text(first + 8);
    return e;
}

Problem read_problem(const Statement& row, int first) {
    Problem p;
    p.op = op_from(row.view(first));
    p.k = row.integer32(first + 1);
    p.heads = row.integer32(first + 2);
    p.dtype = known(parse_dtype(row.view(first + 3)), "storage type", row.view(first + 3));
    p.reduce = known(parse_reduce(row.view(first + 4)), "reduction", row.view(first + 4));
    p.weighted = row.boolean(first + 5);
    p.direction = known(parse_direction(row.view(first + 6)), "direction", row.view(first + 6));
    p.self_loop = row.boolean(first + 7);
    return p;
}

Measurement read_measurement(const Statement& row, int first) {
    // SQLite has no NaN: a NULL error is one (a result with NaN in it), a NULL time was never taken.
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    int c = first;
    Measurement m;
    m.config = config_from(row.view(c++));
    m.variant_version = row.integer32(c++);
    m.policy = policy_from(row.view(c++));
    m.clock = clock_from(row.view(c++));
    const std::string_view status = row.view(c++);
    m.status = known(parse_status(status), "status", status);
    m.reason = row.text(c++);
    m.median_us = row.real(c++);
    m.q1_us = row.real(c++);
    m.q3_us = row.real(c++);
    m.min_us = row.real(c++);
    m.ci_low_us = row.real(c++);
    m.ci_high_us = row.real(c++);
    m.samples = row.integer(c++);
    m.sm_clock_mhz = row.integer32(c++);
    m.prepare_us = row.real(c++);
    m.workspace_bytes = row.integer(c++);
    m.format_bytes = row.integer(c++);
    m.deterministic = row.boolean(c++);
    m.approximate = row.boolean(c++);
    m.max_error = row.real(c++, kNan);
    m.mean_error = row.real(c++, kNan);
    m.worst_ratio = row.real(c++, kNan);
    m.taken_at = row.text(c++);
    return m;
}

std::optional<std::string> complaint_of(const ModelRow& row) {
    if (!model::is_readable(row.feature_version)) {
        if (model::are_damaged(row.bytes)) return "its checksum does not fit";
        return std::nullopt;
    }
    try {
        const model::Model m = model::from_bytes(row.bytes);
        if (m.op == row.op && m.backend == row.backend) return std::nullopt;
        return "its bytes are of another";
    } catch (const Error& error) {
        return error.what();
    }
}

std::string tied_text(const std::vector<Config>& tied) {
    std::string list;
    for (const Config& config : tied) {
        list += list.empty() ? "[" : ",";
        append_json_text(list, config.text());
    }
    return list.empty() ? "[]" : list + "]";
}

std::vector<Config> tied_from(const std::string& text) {
    JsonValue list;
    try {
        list = parse_json(text);
    } catch (const Error&) {  // null, which is no list either
    }
    if (!list.is(JsonValue::Kind::list)) {
        throw UnreadableRow("the tied configs of a choice are no JSON array: " + text);
    }
    std::vector<Config> tied;
    for (const JsonValue& item : list.items) {
        if (!item.is(JsonValue::Kind::text)) {
            throw UnreadableRow("the tied configs of a choice are not all text: " + text);
        }
        tied.push_back(config_from(item.text));
    }
    return tied;
}

}  // namespace gnntune::store
