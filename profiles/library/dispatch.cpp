#include "profiles/library/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "core/common/error.hpp"
#include "profiles/library/plan_memo.hpp"
#include "profiles/library/review.hpp"

namespace gnntune::library {
namespace {

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

/// The place of the row that the choosing rule takes, those aside that have failed; nothing if none can be chosen.
std::optional<std::size_t> best_row(const Context& context, const Query& query, const Story& story, Config& config) {
    const auto& rows = story.entry->rows;
    std::vector<double> medians_us(rows.size());
    std::transform(rows.begin(), rows.end(), medians_us.begin(), [](const auto& row) { return row.median_us; });
    std::deque<std::pair<std::size_t, Candidate>> seen;
    const auto at = [&](std::size_t i) -> const Candidate* {
        for (const auto& [failed, why] : story.failed_rows) {
            if (failed == i) return nullptr;
        }
        std::string reason;
        auto candidate = candidate_of(context, query, story, rows[i], reason);
        return candidate ? &seen.emplace_back(i, *std::move(candidate)).second : nullptr;
    };
    const auto winner = quick_winner(medians_us, at, story.request.constraints);
    for (auto& [i, candidate] : seen) {
        if (i == winner) config = std::move(candidate.config);
    }
    return winner;
}

std::unique_ptr<Plan> plan_from_database(const Context& context, Graph& graph, StreamHandle stream, Story& story) {
    if (!story.entry) return nullptr;
    Query query = graph.query(story.request.problem);
    story.knew_features = query.features != nullptr;
    while (const auto row = best_row(context, query, story, story.config)) {
        std::string reason;
        if (auto plan = try_plan(graph, story.request, story.config, stream, reason)) {
            story.source = Source::database;
            return plan;
        }
        story.failed_rows.emplace_back(*row, std::move(reason));
    }
    return nullptr;
}

/// The first of the configs that the model prefers to the default whose plan can be built. Whatever goes wrong with one
/// is no reason to fail: the default has not been tried.
std::unique_ptr<Plan> plan_from_model(const Context& context, Graph& graph, StreamHandle stream, Story& story) {
    const Request& request = story.request;
    try {
        story.forecast = ask_model(context, graph, request.problem, request.constraints, request.policy,
                                   story.answers->format_builds());
    } catch (const Error& error) {
        story.forecast.emplace().why = error.what();
        return nullptr;
    }
    Forecast& forecast = *story.forecast;
    for (const Expected& expected : forecast.advice.better) {
        const Config& config = forecast.prospects->candidates()[expected.candidate].config;
        std::unique_ptr<Plan> plan;
        std::string reason;
        try {
            plan = try_plan(graph, request, config, stream, reason);
        } catch (const Error& error) {
            reason = error.what();
        }
        if (plan) {
            story.source = Source::model;
            story.config = config;
            forecast.chosen = expected;
            return plan;
        }
        story.misses.push_back({config.text(), std::move(reason)});
    }
    return nullptr;
}

/// Exact variants other than `first` with their default params, in the order in which the registry would try them.
std::vector<Config> other_defaults(const Context& context, const Query& query, const Request& request,
                                   const std::string& first) {
    std::vector<const Variant*> order;
    for (const Variant& v : context.registry.variants()) {
        if (v.approximate || v.precision != Precision::fp32 || first == v.id) continue;
        if (context.registry.applicable(v, query)) order.push_back(&v);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Variant* a, const Variant* b) { return a->default_rank < b->default_rank; });
    std::vector<Config> configs;
    for (const Variant* v : order) {
        if (v->operand_alignment > request.constraints.operand_alignment) continue;
        Params params = v->default_params(query);
        if (request.constraints.deterministic && !v->deterministic(params)) continue;
        configs.push_back({v->id, std::move(params)});
    }
    return configs;
}

std::unique_ptr<Plan> plan_by_default(const Context& context, Graph& graph, StreamHandle stream, Story& story) {
    const Request& request = story.request;
    const Query query = graph.query(request.problem);
    std::string refusals;
    const auto attempt = [&](const Config& config) {
        std::string reason;
        auto plan = try_plan(graph, request, config, stream, reason);
        if (plan) {
            story.source = Source::fallback;
            story.config = config;
        } else {
            refusals += "; " + config.text() + ": " + reason;
            story.misses.push_back({config.text(), std::move(reason)});
        }
        return plan;
    };
    // Throws in words if there is none, and settles which one comes first.
    const Config first = exact_default(context.registry, query, request.constraints);
    if (auto plan = attempt(first)) return plan;
    for (const Config& config : other_defaults(context, query, request, first.variant)) {
        if (auto plan = attempt(config)) return plan;
    }
    throw unsupported("no config can do " + to_text(request.problem) + " under these constraints" + refusals);
}

std::unique_ptr<Plan> plan_forced(const Config& config, Graph& graph, StreamHandle stream, Story& story) {
    story.source = Source::forced;
    story.config = config;
    try {
        return std::make_unique<Plan>(graph, story.request.problem, config, stream);
    } catch (const Error& error) {
        throw Error(error.kind(), std::string("GNNTUNE_FORCE: ") + error.what());
    }
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

Outcome make_plan(const Context& context, Graph& graph, PlanMemo& memo, const Request& request, StreamHandle stream) {
    const std::uint64_t revision = graph.revision();
    if (auto known = memo.find(request, revision)) {
        std::string reason;
        if (auto plan = try_plan(graph, request, known->config, stream, reason)) return {std::move(plan), known};
    }
    validate(request.problem);
    auto story = std::make_shared<Story>();
    story->request = request;
    story->binding = std::make_shared<const Binding>(graph.query(request.problem));
    story->answers = context.snapshot.answers(graph.fingerprint(), request.problem);
    story->entry = story->answers->find(request.policy);
    story->present = graph.present(request.problem.direction);
    const bool forced = context.forced && context.registry.find(context.forced->variant)->op == request.problem.op;
    std::unique_ptr<Plan> plan;
    if (forced) {
        plan = plan_forced(*context.forced, graph, stream, *story);
    } else {
        plan = plan_from_database(context, graph, stream, *story);
        if (!plan) plan = plan_from_model(context, graph, stream, *story);
        if (!plan) plan = plan_by_default(context, graph, stream, *story);
        // What failed for want of memory may be had another time, and so may what a file could not say now.
        const bool lasting = story->failed_rows.empty() && story->misses.empty() && story->answers->unread().empty();
        if (lasting) memo.keep(revision, story);
    }
    return {std::move(plan), std::move(story)};
}

}  // namespace gnntune::library
