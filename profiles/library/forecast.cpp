#include "profiles/library/forecast.hpp"

#include <chrono>

#include "core/common/elapsed.hpp"
#include "core/dispatch/build_cost.hpp"

namespace gnntune::library {
namespace {

/// Costs that were measured on this graph, for another problem: nothing is known of others.
BuildCost known_builds(const Context& context, const std::vector<FormatBuild>* builds, const PresentFormats& present) {
    if (!builds) return {};
    return [&context, &present, builds](const Config& config) {
        return missing_formats_us(present, context.registry.find(config.variant)->formats(config.params), *builds);
    };
}

}  // namespace

Forecast ask_model(const Context& context, Graph& graph, Query& query, const Constraints& constraints, Policy policy,
                   const std::vector<FormatBuild>* builds) {
    Forecast forecast;
    if (context.sources == Sources::database) {
        forecast.why = "not asked: the sources are db_only";
        return forecast;
    }
    if (graph.in_stream_order()) {
        forecast.why = "not asked: it goes by the graph's features, and this one is planned without waiting for them";
        return forecast;
    }
    const ReadyModel ready = context.models->ready(context.snapshot, query, policy, forecast.why);
    if (!ready.model) return forecast;
    forecast.origin = ready.origin;
    forecast.prospects = ready.prospects;
    if (!query.features) {
        const Instant begin = std::chrono::steady_clock::now();
        query.features = &graph.features();
        forecast.features_us = us_since(begin);
    }
    const Instant begin = std::chrono::steady_clock::now();
    const PresentFormats present = graph.present(query.problem.direction);
    forecast.advice = advise(*ready.model, *ready.prospects, context.registry, query, context.snapshot.constants(),
                             constraints, known_builds(context, builds, present));
    forecast.why = forecast.advice.reason;
    forecast.asked_us = us_since(begin);
    return forecast;
}

}  // namespace gnntune::library
