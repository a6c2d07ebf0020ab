#include "core/dispatch/choose.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>

#include "core/common/numbers.hpp"

namespace gnntune {
namespace {

std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", x);
    return text;
}

// Of rows that people or accidents have changed.
bool has_time(const Candidate& c) {
    return std::isfinite(c.median_us) && c.median_us > 0 && std::isfinite(c.build_us) && c.build_us >= 0;
}

std::string no_time(const Candidate& c) {
    return "its stored time of " + number(c.median_us) + " us with " + number(c.build_us) +
           " us of building is no time; measure it again";
}

bool is_exact(const Candidate& c) {
    return c.precision == Precision::fp32 && !c.approximate;
}

double cost_us(const Candidate& c, double calls) {
    return c.build_us + calls * c.median_us;
}

// Within the noise: the intervals of the totals overlap and the totals are closer than the margin.
bool tied_with(const Candidate& best, const Candidate& c, double calls) {
    const double best_cost = cost_us(best, calls);
    if (cost_us(c, calls) > best_cost * (1.0 + kTieMargin)) return false;
    // An interval that does not hold its median says nothing.
    const double best_high =
        best.ci_high_us >= best.median_us ? best.build_us + calls * best.ci_high_us : best_cost * (1.0 + kTieMargin);
    const double low =
        c.ci_low_us > 0 && c.ci_low_us <= c.median_us ? c.build_us + calls * c.ci_low_us : cost_us(c, calls);
    return low <= best_high;
}

/// What keeps a candidate from being chosen.
enum class Obstacle { none, sampling, capture, repeating, precision, unknown_error, error, alignment, workspace };

Obstacle obstacle(const Candidate& c, const Constraints& limits) {
    if (c.approximate && !limits.allow_sampling) return Obstacle::sampling;
    if (!c.capturable) return Obstacle::capture;
    if (limits.deterministic && !c.deterministic) return Obstacle::repeating;
    if (!is_exact(c)) {
        if (limits.max_error <= 0) return Obstacle::precision;
        if (std::isinf(c.max_error)) return Obstacle::unknown_error;
        if (c.max_error > limits.max_error) return Obstacle::error;
    }
    if (c.operand_alignment > limits.operand_alignment) return Obstacle::alignment;
    if (c.workspace_bytes > 0 && static_cast<std::size_t>(c.workspace_bytes) > limits.workspace_limit_bytes) {
        return Obstacle::workspace;
    }
    return Obstacle::none;
}

// What decides among tied ones: the least of these.
std::tuple<bool, std::int64_t, std::int64_t, double> preference(const Candidate& c, double calls) {
    return {!c.deterministic, c.format_bytes, c.workspace_bytes, cost_us(c, calls)};
}

// Costs above this lose to `cheapest` even if they are an incumbent's; those of tied ones are lower.
double most_to_stay(const Candidate& cheapest, double calls) {
    return cost_us(cheapest, calls) * (1.0 + kRunMargin) + calls * kClockMargin_us;
}

// What was chosen before and costs no more than runs differ.
bool stays_before(const Candidate& c, const Candidate& cheapest, double calls) {
    // What is allowed only now has not been weighed against it before.
    return c.incumbent && is_exact(c) == is_exact(cheapest) && cost_us(c, calls) <= most_to_stay(cheapest, calls);
}

double calls_of(const Constraints& limits) {
    return limits.expected_calls > 0 ? limits.expected_calls : 1.0;
}

}  // namespace

std::optional<std::string> refusal(const Candidate& c, const Constraints& limits) {
    switch (obstacle(c, limits)) {
        case Obstacle::none:
            return std::nullopt;
        case Obstacle::sampling:
            return "drops edges by design, and sampling was not allowed";
        case Obstacle::capture:
            return "cannot be captured in a CUDA graph, so it is measured for comparison only";
        case Obstacle::repeating:
            return "does not repeat bit for bit, and that was demanded";
        case Obstacle::precision:
            return (c.approximate ? "drops edges by design" : "computes in " + std::string(to_text(c.precision))) +
                   ", and no error was allowed";
        case Obstacle::unknown_error:
            return "its error on this graph was not measured";
        case Obstacle::error:
            return "its error " + number(c.max_error) + " on this graph is above the allowed " +
                   number(limits.max_error);
        case Obstacle::alignment:
            return "needs operands aligned to " + std::to_string(c.operand_alignment) + " bytes, " +
                   std::to_string(limits.operand_alignment) + " were promised";
        case Obstacle::workspace:
            return "needs " + std::to_string(c.workspace_bytes) + " bytes of workspace, more than the allowed " +
                   std::to_string(limits.workspace_limit_bytes);
    }
    return std::nullopt;
}

Candidate unmeasured(const Variant& variant, Params params) {
    Candidate c;
    c.operand_alignment = variant.operand_alignment;
    c.deterministic = variant.parts || variant.deterministic(params);
    c.capturable = !variant.capturable || variant.capturable(params);
    c.approximate = variant.approximate;
    c.precision = variant.precision;
    c.max_error = std::numeric_limits<double>::infinity();
    c.config = {variant.id, std::move(params)};
    return c;
}

Decision choose(const std::vector<Candidate>& candidates, const Constraints& limits) {
    Decision decision;
    const double calls = calls_of(limits);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        auto reason = has_time(candidates[i]) ? refusal(candidates[i], limits) : no_time(candidates[i]);
        if (reason) {
            decision.rejected.push_back({i, std::move(*reason)});
        } else {
            order.push_back(i);
        }
    }
    if (order.empty()) {
        decision.reason = candidates.empty() ? "nothing was measured" : "every measured config breaks a constraint";
        return decision;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return cost_us(candidates[a], calls) < cost_us(candidates[b], calls);
    });
    const Candidate& cheapest = candidates[order.front()];
    std::vector<std::size_t> tied;
    std::vector<std::size_t> beyond;
    for (const std::size_t i : order) {
        (i == order.front() || tied_with(cheapest, candidates[i], calls) ? tied : beyond).push_back(i);
    }
    const auto preferred = *std::min_element(tied.begin(), tied.end(), [&](std::size_t a, std::size_t b) {
        return preference(candidates[a], calls) < preference(candidates[b], calls);
    });
    const auto stays = std::find_if(order.begin(), order.end(),
                                    [&](std::size_t i) { return stays_before(candidates[i], cheapest, calls); });
    const std::size_t winner = stays == order.end() ? preferred : *stays;
    decision.winner = winner;
    for (const std::size_t i : tied) {
        if (i != winner) decision.tied.push_back(i);
    }
    for (const std::size_t i : beyond) {
        if (i == winner) continue;
        if (cost_us(candidates[i], calls) < cost_us(candidates[winner], calls)) {
            decision.tied.push_back(i);
        } else if (!decision.runner_up) {
            decision.runner_up = i;
        }
    }
    if (winner == preferred) {
        decision.reason = "cheapest of " + std::to_string(order.size()) + " over " + count_text(calls) + " calls";
    } else {
        decision.reason = "chosen before, and none of " + std::to_string(order.size()) + " is cheaper over " +
                          count_text(calls) + " calls by more than runs differ";
    }
    if (!decision.tied.empty()) {
        decision.reason += "; tied with " + std::to_string(decision.tied.size()) +
                           (winner == preferred ? " within the noise" : " that runs may not tell apart");
    }
    if (decision.runner_up) {
        const double next = cost_us(candidates[*decision.runner_up], calls);
        decision.reason +=
            "; next costs " + number(100.0 * (next / cost_us(candidates[winner], calls) - 1.0)) + " % more";
    }
    return decision;
}

std::optional<std::size_t> quick_winner(std::span<const double> medians_us,
                                        const std::function<const Candidate*(std::size_t)>& at,
                                        const Constraints& limits) {
    const double calls = calls_of(limits);
    std::vector<std::pair<std::size_t, const Candidate*>> seen;
    const Candidate* cheapest = nullptr;
    for (std::size_t i = 0; i < medians_us.size(); ++i) {
        // All that follow cost at least this, so the cheapest is known, and none of them is tied or stays.
        if (cheapest && calls * medians_us[i] > most_to_stay(*cheapest, calls)) break;
        const Candidate* c = at(i);
        if (!c || !has_time(*c) || obstacle(*c, limits) != Obstacle::none) continue;
        seen.emplace_back(i, c);
        if (!cheapest || cost_us(*c, calls) < cost_us(*cheapest, calls)) cheapest = c;
    }
    if (!cheapest) return std::nullopt;
    // In the order of choose().
    std::stable_sort(seen.begin(), seen.end(), [&](const auto& a, const auto& b) {
        return cost_us(*a.second, calls) < cost_us(*b.second, calls);
    });
    const auto stays = std::find_if(seen.begin(), seen.end(),
                                    [&](const auto& one) { return stays_before(*one.second, *cheapest, calls); });
    if (stays != seen.end()) return stays->first;
    auto preferred = seen.begin();
    for (auto one = seen.begin() + 1; one != seen.end(); ++one) {
        if (tied_with(*cheapest, *one->second, calls) &&
            preference(*one->second, calls) < preference(*preferred->second, calls)) {
            preferred = one;
        }
    }
    return preferred->first;
}

std::optional<double> break_even_calls(const Candidate& a, const Candidate& b) {
    const double saved = a.median_us - b.median_us;
    const double extra = b.build_us - a.build_us;
    if (extra <= 0) return saved >= 0 ? std::optional(0.0) : std::nullopt;
    if (saved <= 0) return std::nullopt;
    return extra / saved;
}

}  // namespace gnntune
