#include "profiles/library/request.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "core/common/error.hpp"
#include "core/ops/op_record.hpp"
#include "core/registry/registry.hpp"
#include "profiles/library/abi.hpp"
#include "profiles/library/memory.hpp"

namespace gnntune::library {
namespace {

template <typename T>
T translate(const char* field, std::int32_t value, const char* expected,
            std::initializer_list<std::pair<std::int32_t, T>> known) {
    for (const auto& [number, meaning] : known) {
        if (number == value) return meaning;
    }
    throw invalid_argument(std::string(field) + " is " + std::to_string(value) + "; expected " + expected);
}

Op op_named(std::int32_t value) {
    std::int32_t last = 0;
    for (const Op op : every_op()) {
        const std::int32_t abi = record_of(op).abi;
        if (abi != 0 && abi == value) return op;
        last = std::max(last, abi);
    }
    throw invalid_argument("problem.op is " + std::to_string(value) + "; expected one of gnntune_op, 1 to " +
                           std::to_string(last));
}

constexpr std::int64_t kNotSaid = -1;
constexpr std::int32_t kElement = 4;  // Variant::operand_alignment of those that need no more than an element's

Config named_config(const char* text, Op op) {
    Config config;
    try {
        config = Config::parse(text);
    } catch (const Error& error) {
        throw invalid_argument(std::string("problem.config: ") + error.what());
    }
    const Variant* variant = all_variants().find(config.variant);
    if (!variant) {
        throw invalid_argument("problem.config: this build has no variant '" + config.variant +
                               "'; `gnntune list` names those it has");
    }
    if (variant->op != op) {
        throw invalid_argument("problem.config is a config of " + std::string(to_text(variant->op)) + ", " +
                               config.text() + "; expected one of " + std::string(to_text(op)));
    }
    return config;
}

}  // namespace

OpenRequest open_request(const char* db_path, const gnntune_open_options& options) {
    OpenRequest request;
    request.db_path = db_path;
    request.backend =
        translate<BackendChoice>("options.backend", options.backend, "GNNTUNE_BACKEND_AUTO, _CPU or _CUDA",
                                 {{GNNTUNE_BACKEND_AUTO, BackendChoice::automatic},
                                  {GNNTUNE_BACKEND_CPU, BackendChoice::cpu},
                                  {GNNTUNE_BACKEND_CUDA, BackendChoice::cuda}});
    request.ordinal = options.device;
    request.require_database = options.require_database != 0;
    request.sources = translate<std::optional<Sources>>(
        "options.sources", options.sources,
        "GNNTUNE_SOURCES_DEFAULT, GNNTUNE_DB_THEN_MODEL, GNNTUNE_DB_ONLY or GNNTUNE_TUNE_ON_MISS",
        {{GNNTUNE_SOURCES_DEFAULT, std::nullopt},
         {GNNTUNE_DB_THEN_MODEL, Sources::database_then_model},
         {GNNTUNE_DB_ONLY, Sources::database},
         {GNNTUNE_TUNE_ON_MISS, Sources::tune_on_miss}});
    // A year bounds nothing either.
    constexpr std::int64_t kYearUs = 365LL * 86400 * 1000000;
    if (options.tune_budget_us != kNotSaid) {
        if (options.tune_budget_us < 1) {
            throw invalid_argument("options.tune_budget_us is " + std::to_string(options.tune_budget_us) +
                                   "; expected 1 or more, or the -1 of GNNTUNE_OPEN_OPTIONS_INIT");
        }
        request.tune_budget_us = static_cast<double>(std::min(options.tune_budget_us, kYearUs));
    }
    request.format_limit_bytes = options.format_limit_bytes;
    if (!options.alloc != !options.free) {
        throw invalid_argument("options.alloc and options.free go together: set both or neither");
    }
    if (options.alloc) request.memory = callback_memory(options.alloc, options.free, options.allocator_user);
    request.memory_in_stream_order = options.memory_in_stream_order != 0;
    if (request.memory_in_stream_order && !options.alloc) {
        throw invalid_argument(
            "options.memory_in_stream_order is a promise about alloc and free: set both, or leave it 0");
    }
    return request;
}

DType dtype_of(const char* field, gnntune_dtype dtype) {
    return translate<DType>(field, dtype, "GNNTUNE_F32, GNNTUNE_F16 or GNNTUNE_BF16",
                            {{GNNTUNE_F32, DType::f32}, {GNNTUNE_F16, DType::f16}, {GNNTUNE_BF16, DType::bf16}});
}

bool is_wide(const char* field, gnntune_index type) {
    return translate<bool>(field, type, "GNNTUNE_INT32 or GNNTUNE_INT64",
                           {{GNNTUNE_INT32, false}, {GNNTUNE_INT64, true}});
}

Request plan_request(const gnntune_problem& problem) {
    Request request;
    Problem& p = request.problem;
    p.op = op_named(problem.op);
    p.k = problem.k;
    p.heads = problem.heads;
    if (p.heads < 1) {
        throw invalid_argument("problem.heads is " + std::to_string(p.heads) +
                               "; expected 1 or more, as in GNNTUNE_PROBLEM_INIT");
    }
    p.dtype = dtype_of("problem.dtype", problem.dtype);
    p.reduce =
        translate<Reduce>("problem.reduce", problem.reduce, "GNNTUNE_SUM, GNNTUNE_MEAN or GNNTUNE_MAX",
                          {{GNNTUNE_SUM, Reduce::sum}, {GNNTUNE_MEAN, Reduce::mean}, {GNNTUNE_MAX, Reduce::max}});
    p.weighted = problem.weighted != 0;
    p.self_loop = problem.self_loop != 0;
    p.direction =
        translate<Direction>("problem.direction", problem.direction, "GNNTUNE_FORWARD or GNNTUNE_REVERSED",
                             {{GNNTUNE_FORWARD, Direction::forward}, {GNNTUNE_REVERSED, Direction::reversed}});
    validate(p);
    const Problem asked = p;
    p = normalised(p);
    // What an op does not have is refused, not passed over: another result than the one that was asked for would come
    // out.
    const std::string op(to_text(p.op));
    if (asked.weighted && !p.weighted && p.op != Op::edge_softmax) {
        throw invalid_argument("problem.weighted is set, and " + op + " takes no edge weights; set it to 0");
    }
    if (asked.self_loop && !p.self_loop) {
        throw invalid_argument("problem.self_loop is set, and only spmm and spmm_grad have self loops, not " + op +
                               "; add the edges to the graph");
    }
    if (asked.reduce != p.reduce) {
        throw invalid_argument("problem.reduce is set, and " + op + " has none; leave it at GNNTUNE_SUM");
    }
    request.policy =
        translate<Policy>("problem.policy", problem.policy, "GNNTUNE_HOT, GNNTUNE_COLD or GNNTUNE_GRAPH",
                          {{GNNTUNE_HOT, Policy::hot}, {GNNTUNE_COLD, Policy::cold}, {GNNTUNE_GRAPH, Policy::graph}});

    if (!std::isfinite(problem.max_error) || problem.max_error < 0) {
        throw invalid_argument("problem.max_error is " + std::to_string(problem.max_error) + "; expected zero or more");
    }
    if (!std::isfinite(problem.expected_calls) || problem.expected_calls <= 0) {
        throw invalid_argument("problem.expected_calls is " + std::to_string(problem.expected_calls) +
                               "; expected a number above zero, as the 1000 of GNNTUNE_PROBLEM_INIT");
    }
    const std::int32_t alignment = problem.operand_alignment;
    if (alignment < 1 || (alignment & (alignment - 1)) != 0) {
        throw invalid_argument("problem.operand_alignment is " + std::to_string(alignment) +
                               "; expected a power of two, as the 16 of GNNTUNE_PROBLEM_INIT");
    }
    Constraints& c = request.constraints;
    c.max_error = problem.max_error;
    c.allow_sampling = problem.allow_sampling != 0;
    c.deterministic = problem.deterministic != 0;
    c.operand_alignment = std::max(alignment, kElement);
    c.expected_calls = problem.expected_calls;
    c.workspace_limit_bytes = problem.workspace_limit_bytes;
    if (problem.config) request.named = named_config(problem.config, p.op);
    return request;
}

}  // namespace gnntune::library
