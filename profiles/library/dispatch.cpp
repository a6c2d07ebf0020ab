#include "profiles/library/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include "core/common/elapsed.hpp"
#include "core/common/error.hpp"
#include "core/registry/errata.hpp"
#include "profiles/library/memory.hpp"
#include "profiles/library/plan_memo.hpp"
#include "profiles/library/review.hpp"
#include "profiles/library/run.hpp"
#include "profiles/library/tuning.hpp"

namespace gnntune::library {
namespace {

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

Trial plan_from_database(const Context& context, Graph& graph, const Query& query, StreamHandle stream, Story& story,
                         bool& ran_out) {
    if (!story.entry) return {};
    story.knew_features = query.features != nullptr;
    while (const auto row = best_row(context, query, story, story.config)) {
        Trial trial = try_plan(context, graph, story.request, story.config, stream);
        if (trial.plan) {
            story.source = story.entry->learned ? Source::tuned : Source::database;
            if (story.entry->learned) story.tuning = context.tunings->find(graph, story.request);
            return trial;
        }
        ran_out = ran_out || trial.out_of_memory;
        story.failed_rows.emplace_back(*row, std::move(trial.reason));
    }
    return {};
}

bool may_tune(const Context& context, const Story& story) {
    return context.sources == Sources::tune_on_miss && story.bucket.empty() && story.answers->unread().empty();
}

/// Whether neither the user's database nor another has rows that count, so that measuring may help. What a file that
/// could not be read would say is not known.
bool is_missed(const Context& context, const Story& story) {
    return may_tune(context, story) && (!story.entry || story.entry->current_rows == 0);
}

/// Whether an erratum of that condition holds configs of this build back.
bool still_holds(const Context& context, const std::string& condition) {
    if (!context.device.errata) return false;
    for (const Erratum& erratum : context.device.errata->all()) {
        if (condition_text(erratum) != condition) continue;
        const Variant* variant = context.registry.find(erratum.variant);
        return !variant || !erratum.last_version || variant->version <= *erratum.last_version;
    }
    return false;
}

/// Whether the choice was made while errata that are gone kept configs from being measured: it is to be made anew.
bool is_outlived(const Context& context, const Story& story) {
    if (!may_tune(context, story) || !story.entry) return false;
    return std::any_of(story.entry->made_under.begin(), story.entry->made_under.end(),
                       [&](const std::string& condition) { return !still_holds(context, condition); });
}

void tune(const Context& context, Graph& graph, Story& story, bool& ran_out) {
    const Request& request = story.request;
    story.tuning = context.tunings->find(graph, request);
    if (!story.tuning) {
        const auto begin = std::chrono::steady_clock::now();
        story.tuning = context.tunings->tune(context, graph, request);
        story.tuned_us = us_since(begin);
    }
    ran_out = ran_out || story.tuning->ran_out;
    story.answers = context.snapshot.answers(graph.fingerprint(), request.problem);
    story.entry = story.answers->find(request.policy);
    story.present = graph.present(request.problem.direction);
    story.failed_rows.clear();
}

/// The first of the configs that the model prefers to the default whose plan can be built. Whatever goes wrong with one
/// is no reason to fail: the default has not been tried.
Trial plan_from_model(const Context& context, Graph& graph, Query& query, StreamHandle stream, Story& story,
                      bool& ran_out) {
    const Request& request = story.request;
    try {
        story.forecast =
            ask_model(context, graph, query, request.constraints, request.policy, story.answers->format_builds());
    } catch (const Error& error) {
        story.forecast.emplace().why = error.what();
        ran_out = ran_out || error.kind() == ErrorKind::out_of_memory;
        return {};
    }
    Forecast& forecast = *story.forecast;
    for (const Expected& expected : forecast.advice.better) {
        const Config& config = forecast.prospects->candidates()[expected.candidate].config;
        Trial trial;
        try {
            trial = try_plan(context, graph, request, config, stream);
        } catch (const Error& error) {
            trial.reason = error.what();
        }
        if (trial.plan) {
            story.source = Source::model;
            story.config = config;
            forecast.chosen = expected;
            return trial;
        }
        ran_out = ran_out || trial.out_of_memory;
        story.misses.push_back({config.text(), std::move(trial.reason)});
    }
    return {};
}

/// Exact variants other than `first` with their default params, in the order in which the registry would try them.
std::vector<Config> other_defaults(const Context& context, const Query& query, const Request& request,
                                   const std::string& first) {
    std::vector<const Variant*> order;
    for (const Variant& v : context.registry.variants()) {
        if (v.approximate || v.precision != Precision::fp32 || first == v.id) continue;
        if (context.registry.applicable(v, query)) order.push_back(&v);
    }
    const auto place = [&](const Variant* v) { return Registry::default_place(*v, query, request.constraints); };
    std::stable_sort(order.begin(), order.end(),
                     [&](const Variant* a, const Variant* b) { return place(a) < place(b); });
    std::vector<Config> configs;
    for (const Variant* v : order) {
        if (v->operand_alignment > request.constraints.operand_alignment) continue;
        Params params = v->default_params(query);
        if (request.constraints.deterministic && !v->deterministic(params)) continue;
        configs.push_back({v->id, std::move(params)});
    }
    return configs;
}

Trial plan_by_default(const Context& context, Graph& graph, Query& query, StreamHandle stream, Story& story,
                      bool& ran_out) {
    const Request& request = story.request;
    // The model has had them counted, where there is one.
    const bool sees_features = context.registry.default_sees_features(request.problem.op, context.device.backend);
    const bool may_wait = !graph.in_stream_order();
    if (sees_features && may_wait && request.constraints.expected_calls >= kCallsOfPreferred) {
        query.features = &graph.features();
    }
    std::string refusals;
    const auto trial_with = [&](const Config& config) {
        Trial trial = try_plan(context, graph, request, config, stream);
        if (trial.plan) {
            story.source = Source::fallback;
            story.config = config;
        } else {
            ran_out = ran_out || trial.out_of_memory;
            refusals += "; " + config.text() + ": " + trial.reason;
            story.misses.push_back({config.text(), std::move(trial.reason)});
        }
        return trial;
    };
    // Throws in words if there is none, and settles which one comes first.
    const Config first = exact_default(context.registry, query, request.constraints);
    Trial trial = trial_with(first);
    if (trial.plan) return trial;
    for (const Config& config : other_defaults(context, query, request, first.variant)) {
        trial = trial_with(config);
        if (trial.plan) return trial;
    }
    throw Error(ran_out ? ErrorKind::out_of_memory : ErrorKind::unsupported,
                "no config can do " + to_text(request.problem) + " under these constraints" + refusals);
}

/// What a plan holds comes from the thread's source, the context's or what a tiled graph may hold of it.
std::shared_ptr<CountingMemory> memory_of_plan(const Context& context) {
    std::shared_ptr<MemorySource> source = current_memory(memory_kind(context.device));
    if (!source) source = context.memory;
    return std::make_shared<CountingMemory>(std::move(source), SIZE_MAX, "a plan");
}

// In the order of its variant, with the default of this problem and graph for params that were left out.
Config completed(const Registry& registry, const Query& query, const Config& config) {
    const Variant& variant = *registry.find(config.variant);
    if (!registry.applicable(variant, query)) return config;  // the plan says why not
    Params params = variant.default_params(query);
    for (const auto& [name, value] : config.params.values()) params.set(name, value);
    return {config.variant, std::move(params)};
}

Trial plan_forced(const Context& context, Graph& graph, const Query& query, StreamHandle stream, Story& story) {
    story.source = Source::forced;
    story.config = completed(context.registry, query, *context.forced);
    Trial trial;
    trial.memory = memory_of_plan(context);
    try {
        const MemoryScope scope(memory_kind(context.device), trial.memory);
        trial.plan = std::make_unique<Plan>(graph, story.request.problem, story.config, stream, UnderErrata::allow);
        story.erratum = trial.plan->erratum();
        return trial;
    } catch (const Error& error) {
        throw Error(error.kind(), std::string("GNNTUNE_FORCE: ") + error.what());
    }
}

Trial plan_named(const Context& context, Graph& graph, const Query& query, StreamHandle stream, Story& story) {
    const Request& request = story.request;
    story.source = Source::named;
    story.config = completed(context.registry, query, *request.named);
    const Variant& variant = *context.registry.find(story.config.variant);
    Trial trial;
    if (variant.operand_alignment > request.constraints.operand_alignment) {
        trial.reason = fmt::format("needs operands aligned to {} bytes, the problem promises {}",
                                   variant.operand_alignment, request.constraints.operand_alignment);
    } else {
        trial = try_plan(context, graph, request, story.config, stream);
    }
    if (trial.plan) return trial;
    throw Error(trial.out_of_memory ? ErrorKind::out_of_memory : ErrorKind::unsupported,
                "problem.config: " + story.config.text() + ": " + trial.reason);
}

}  // namespace

std::string_view to_text(Source source) {
    switch (source) {
        case Source::database:
            return "database";
        case Source::tuned:
            return "tuned";
        case Source::model:
            return "model";
        case Source::fallback:
            return "default";
        case Source::named:
            return "named";
        case Source::forced:
            return "forced";
    }
    return "?";
}

Trial try_plan(const Context& context, Graph& graph, const Request& request, const Config& config,
               StreamHandle stream) {
    Trial trial;
    trial.memory = memory_of_plan(context);
    try {
        const MemoryScope scope(memory_kind(context.device), trial.memory);
        auto plan = std::make_unique<Plan>(graph, request.problem, config, stream);
        // What a composition promises depends on its parts.
        if (request.constraints.deterministic && !plan->deterministic()) {
            trial.reason = "does not repeat bit for bit, and that was demanded";
        } else if (!plan->capturable()) {
            trial.reason = "cannot be captured in a CUDA graph";
        } else if (plan->workspace_bytes() <= request.constraints.workspace_limit_bytes) {
            trial.plan = std::move(plan);
        } else {
            trial.reason = fmt::format("needs {} bytes of workspace, more than the allowed {}", plan->workspace_bytes(),
                                       request.constraints.workspace_limit_bytes);
        }
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::out_of_memory) throw;
        trial.reason = error.what();
        trial.out_of_memory = error.kind() == ErrorKind::out_of_memory;
    }
    return trial;
}

Trial choose_and_plan(const Context& context, Graph& graph, StreamHandle stream, Story& story, bool& ran_out) {
    const Op op = story.request.problem.op;
    // The one answer that the graph gives about the problem; whoever needs its features adds them.
    Query query = graph.query(story.request.problem);
    if (context.forced && context.registry.find(context.forced->variant)->op == op) {
        return plan_forced(context, graph, query, stream, story);
    }
    if (story.request.named) return plan_named(context, graph, query, stream, story);
    const bool outlived = is_outlived(context, story);
    Trial trial = outlived ? Trial() : plan_from_database(context, graph, query, stream, story, ran_out);
    if (outlived || (!trial.plan && is_missed(context, story))) {
        tune(context, graph, story, ran_out);
        query = graph.query(story.request.problem);  // measuring has found the features
        trial = plan_from_database(context, graph, query, stream, story, ran_out);
    }
    if (!trial.plan) trial = plan_from_model(context, graph, query, stream, story, ran_out);
    if (!trial.plan) trial = plan_by_default(context, graph, query, stream, story, ran_out);
    return trial;
}

Outcome make_plan(const Context& context, Graph& graph, PlanMemo& memo, const Request& request, StreamHandle stream) {
    const std::uint64_t revision = graph.revision();
    if (auto known = memo.find(request, revision)) {
        Trial again = try_plan(context, graph, request, known->story->config, stream);
        if (again.plan) {
            return {std::move(again.memory), std::move(again.plan), std::move(known->binding), std::move(known->story),
                    0};
        }
    }
    validate(request.problem);
    auto story = std::make_shared<Story>();
    story->request = request;
    story->answers = context.snapshot.answers(graph.fingerprint(), request.problem);
    story->entry = story->answers->find(request.policy);
    story->present = graph.present(request.problem.direction);
    bool ran_out = false;
    Trial made = choose_and_plan(context, graph, stream, *story, ran_out);
    // What failed for want of memory may be had another time, and a file that could not be read may speak.
    const bool passing = ran_out || (story->tuning && story->tuning->passing);
    const bool lasting = story->source != Source::forced && !passing && story->answers->unread().empty();
    const auto binding = std::make_shared<const Binding>(graph, request.problem);
    if (lasting) memo.keep(revision, {story, binding});
    const double tuned_us = story->tuned_us;
    return {std::move(made.memory), std::move(made.plan), binding, std::move(story), tuned_us};
}

}  // namespace gnntune::library
