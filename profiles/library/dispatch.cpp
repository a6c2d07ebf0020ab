#include "profiles/library/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/common/error.hpp"
#include "core/dispatch/build_cost.hpp"

namespace gnntune::library {
namespace {

/// Why a row of the database does not count here; nothing if it does.
std::optional<std::string> unusable(const Context& context, const Query& query, const store::SnapshotRow& row,
                                    const Config& config) {
    const Variant* variant = context.registry.find(config.variant);
    if (!variant) return "this build has no variant '" + config.variant + "'";
    if (variant->version != row.variant_version) {
        return fmt::format("measured with version {}, this build has version {}", row.variant_version,
                           variant->version);
    }
    for (const store::SnapshotPart& part : context.snapshot.parts(row)) {
        const Variant* known = context.registry.find(Config::parse(part.config).variant);
        if (!known || known->version != part.variant_version) {
            return fmt::format("its part {} was measured with version {}, this build has {}", part.config,
                               part.variant_version,
                               known ? fmt::format("version {}", known->version) : std::string("none"));
        }
    }
    Verdict verdict = context.registry.applicable(*variant, query);
    if (verdict) verdict = variant->valid(query, config.params);
    if (!verdict) return verdict.reason;
    return std::nullopt;
}

/// What a config still needs built here. The row says what everything cost from a CSR graph; the costs of single
/// formats say how much of that was formats.
double missing_us(const Graph& graph, const Problem& problem, const Variant& variant, const store::SnapshotRow& row,
                  const Config& config, const std::vector<FormatBuild>* builds) {
    const Direction direction = problem.direction;
    const auto formats = variant.formats(config.params);
    if (!builds) return has_formats(graph, formats, direction) ? 0 : row.prepare_us;
    const double own = row.prepare_us - total_build_us(*builds, formats, kFormatCsr, direction);
    return std::max(0.0, own) + missing_formats_us(graph, formats, direction, *builds);
}

Candidate candidate_from(const Graph& graph, const Problem& problem, const Variant& variant,
                         const store::SnapshotRow& row, Config config, const std::vector<FormatBuild>* builds) {
    Candidate c;
    c.median_us = row.median_us;
    c.ci_low_us = row.ci_low_us;
    c.ci_high_us = row.ci_high_us;
    c.build_us = missing_us(graph, problem, variant, row, config, builds);
    c.format_bytes = row.format_bytes;
    c.workspace_bytes = row.workspace_bytes;
    c.operand_alignment = variant.operand_alignment;
    c.deterministic = row.deterministic && variant.deterministic(config.params);
    c.capturable = !variant.capturable || variant.capturable(config.params);
    c.approximate = variant.approximate;
    c.precision = variant.precision;
    c.max_error = row.max_error;
    c.incumbent = row.chosen;
    c.config = std::move(config);
    return c;
}

void collect_candidates(const Context& context, Graph& graph, const Request& request, Outcome& outcome) {
    const Query query = graph.query(request.problem);
    const auto* builds = context.snapshot.format_builds(graph.fingerprint());
    for (const store::SnapshotRow& row : outcome.entry->rows) {
        try {
            Config config = Config::parse(row.config);
            if (auto reason = unusable(context, query, row, config)) {
                outcome.misses.push_back({std::string(row.config), std::move(*reason)});
                continue;
            }
            const Variant& variant = *context.registry.find(config.variant);
            outcome.candidates.push_back(
                candidate_from(graph, request.problem, variant, row, std::move(config), builds));
        } catch (const Error& error) {
            outcome.misses.push_back({std::string(row.config), error.what()});
        }
    }
}

/// The plan, or nothing with the reason if this config cannot be had here but another may be.
std::unique_ptr<Plan> try_plan(Graph& graph, const Request& request, const Config& config, StreamHandle stream,
                               std::string& reason) {
    try {
        auto plan = std::make_unique<Plan>(graph, request.problem, config, stream);
        // What a composition promises depends on its parts.
        if (request.constraints.deterministic && !plan->deterministic()) {
            reason = "does not repeat bit for bit, and that was demanded";
        } else if (!plan->capturable()) {
            reason = "cannot be captured in a CUDA graph";
        } else if (plan->workspace_bytes() <= request.constraints.workspace_limit_bytes) {
            return plan;
        } else {
            reason = fmt::format("needs {} bytes of workspace, more than the allowed {}", plan->workspace_bytes(),
                                 request.constraints.workspace_limit_bytes);
        }
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::out_of_memory) throw;
        reason = error.what();
    }
    return nullptr;
}

std::string nothing_measured(const Context& context, const Fingerprint& fingerprint, const Request& request) {
    if (std::string reason = context.no_database_reason(); !reason.empty()) return reason;
    std::string others;
    for (const Policy policy : {Policy::hot, Policy::cold, Policy::graph}) {
        if (context.snapshot.find(fingerprint, request.problem, policy)) {
            others += (others.empty() ? "" : ", ") + std::string(to_text(policy));
        }
    }
    if (others.empty()) return "the database has no measurement of this graph and problem on this device";
    return fmt::format("the database has this graph and problem under policy {}, not {}", others,
                       to_text(request.policy));
}

bool plan_from_database(const Context& context, Graph& graph, const Request& request, StreamHandle stream,
                        Outcome& outcome) {
    const Fingerprint fingerprint = graph.fingerprint();
    outcome.entry = context.snapshot.find(fingerprint, request.problem, request.policy);
    if (!outcome.entry) {
        outcome.why = nothing_measured(context, fingerprint, request);
        return false;
    }
    collect_candidates(context, graph, request, outcome);
    while (true) {
        outcome.decision = choose(outcome.candidates, request.constraints);
        if (!outcome.decision.winner) break;
        const std::size_t winner = *outcome.decision.winner;
        std::string reason;
        outcome.plan = try_plan(graph, request, outcome.candidates[winner].config, stream, reason);
        if (outcome.plan) {
            outcome.source = Source::database;
            outcome.why = outcome.decision.reason;
            return true;
        }
        outcome.misses.push_back({outcome.candidates[winner].config.text(), std::move(reason)});
        outcome.candidates.erase(outcome.candidates.begin() + static_cast<std::ptrdiff_t>(winner));
    }
    outcome.why = outcome.candidates.empty() ? "no measured config can be used here" : outcome.decision.reason;
    return false;
}

/// The first of the configs that the model prefers to the default whose plan can be built. Whatever goes wrong with one
/// is no reason to fail: the default has not been tried.
bool plan_from_model(const Context& context, Graph& graph, const Request& request, StreamHandle stream,
                     Outcome& outcome) {
    try {
        outcome.forecast = ask_model(context, graph, request.problem, request.constraints, request.policy);
    } catch (const Error& error) {
        outcome.forecast.emplace().why = error.what();
        return false;
    }
    Forecast& forecast = *outcome.forecast;
    for (const Expected& expected : forecast.advice.better) {
        const Config& config = forecast.prospects->candidates()[expected.candidate].config;
        std::string reason;
        try {
            outcome.plan = try_plan(graph, request, config, stream, reason);
        } catch (const Error& error) {
            reason = error.what();
        }
        if (outcome.plan) {
            outcome.source = Source::model;
            forecast.chosen = expected;
            return true;
        }
        outcome.misses.push_back({config.text(), std::move(reason)});
    }
    return false;
}

/// Exact variants with their default params, in the order in which the registry would try them.
std::vector<Config> fallbacks(const Context& context, const Query& query, const Request& request) {
    // Throws in words if there is none, and settles which one comes first.
    std::vector<Config> configs{exact_default(context.registry, query, request.constraints)};
    std::vector<const Variant*> order;
    for (const Variant& v : context.registry.variants()) {
        if (v.approximate || v.precision != Precision::fp32 || configs.front().variant == v.id) continue;
        if (context.registry.applicable(v, query)) order.push_back(&v);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Variant* a, const Variant* b) { return a->default_rank < b->default_rank; });
    for (const Variant* v : order) {
        if (v->operand_alignment > request.constraints.operand_alignment) continue;
        Params params = v->default_params(query);
        if (request.constraints.deterministic && !v->deterministic(params)) continue;
        configs.push_back({v->id, std::move(params)});
    }
    return configs;
}

void plan_by_default(const Context& context, Graph& graph, const Request& request, StreamHandle stream,
                     Outcome& outcome) {
    std::string refusals;
    for (const Config& config : fallbacks(context, graph.query(request.problem), request)) {
        std::string reason;
        outcome.plan = try_plan(graph, request, config, stream, reason);
        if (outcome.plan) {
            outcome.source = Source::fallback;
            return;
        }
        refusals += "; " + config.text() + ": " + reason;
        outcome.misses.push_back({config.text(), std::move(reason)});
    }
    throw unsupported("no config can do " + to_text(request.problem) + " under these constraints" + refusals);
}

void plan_forced(const Config& config, Graph& graph, const Request& request, StreamHandle stream, Outcome& outcome) {
    try {
        outcome.plan = std::make_unique<Plan>(graph, request.problem, config, stream, UnderErrata::allow);
    } catch (const Error& error) {
        throw Error(error.kind(), std::string("GNNTUNE_FORCE: ") + error.what());
    }
    outcome.source = Source::forced;
    outcome.why = "pinned by GNNTUNE_FORCE, whatever was measured and demanded";
    if (!outcome.plan->erratum().empty()) outcome.why += ", and although it must not run: " + outcome.plan->erratum();
}

}  // namespace

std::string_view to_text(Source source) {
    switch (source) {
        case Source::database:
            return "database";
        case Source::model:
            return "model";
        case Source::fallback:
            return "default";
        case Source::forced:
            return "forced";
    }
    return "?";
}

Outcome make_plan(const Context& context, Graph& graph, const Request& request, StreamHandle stream) {
    validate(request.problem);
    Outcome outcome;
    if (context.forced && context.registry.find(context.forced->variant)->op == request.problem.op) {
        plan_forced(*context.forced, graph, request, stream, outcome);
    } else if (!plan_from_database(context, graph, request, stream, outcome) &&
               !plan_from_model(context, graph, request, stream, outcome)) {
        plan_by_default(context, graph, request, stream, outcome);
    }
    return outcome;
}

}  // namespace gnntune::library
