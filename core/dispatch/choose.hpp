// The choosing rule, written once: the tuner records its answer, `explain` prints it, the dispatcher follows it.
//
// Cost of a config for N calls = building the formats that do not exist yet + N x time. Configs whose difference is
// within the noise are tied; among tied ones the deterministic, then the one with fewer bytes of formats, then the one
// with less workspace, then the faster one wins. What was chosen before stays unless the winner gains more than two runs
// of the same program differ by, so that tuning again does not flip choices. Pure functions of their arguments;
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/registry/config.hpp"
#include "core/registry/variant.hpp"

namespace gnntune {

/// A config that may be chosen: measured, or as far as is known without (unmeasured()).
struct Candidate {
    Config config;
    double median_us = 0;
    double ci_low_us = 0;  ///< 95 % confidence interval of the median; 0, 0 if unknown
    double ci_high_us = 0;
    double build_us = 0;  ///< what it still needs built, from what the graph has now
    std::int64_t format_bytes = 0;
    std::int64_t workspace_bytes = 0;
    std::int32_t operand_alignment = 4;  ///< of its variant
    bool deterministic = false;
    bool capturable = true;    ///< its launch may be captured in a CUDA graph
    bool approximate = false;  ///< drops edges by design
    bool incumbent = false;    ///< what was chosen here before
    Precision precision = Precision::fp32;
    double max_error = 0;  ///< measured on this graph, relative to the scale of each element; infinite if nobody did
};

struct Rejection {
    std::size_t candidate = 0;
    std::string reason;
};

struct Decision {
    std::optional<std::size_t> winner;  ///< index into the candidates; none if all were rejected
    /// The others within the noise of the cheapest, and what is cheaper than an incumbent that stays; cheapest first.
    std::vector<std::size_t> tied;
    std::optional<std::size_t> runner_up;  ///< the cheapest candidate that is not tied
    std::vector<Rejection> rejected;       ///< by the constraints, in the order of the candidates
    std::string reason;                    ///< one sentence for people
};

/// Two configs closer than this are never told apart, however narrow their confidence intervals.
inline constexpr double kTieMargin = 0.01;
/// Two runs of the same program differ by more than the samples within one of them do: another process lays out memory
/// elsewhere. Twice the margin within which configs that were measured in turns are tied.
inline constexpr double kRunMargin = 2 * kTieMargin;
/// What the time of one call may be off by however often it is read: about three ticks of a GPU's event timer.
inline constexpr double kClockMargin_us = 0.1;

Decision choose(const std::vector<Candidate>& candidates, const Constraints& constraints);

/// The winner of choose() for candidates that come in order of their time, without those that are too slow to win
/// whatever they have built: of hundreds of measured configs the first few are looked at.
///   medians_us  of all of them, ascending
///   at          makes the candidate of that place, or null for one that does not come into question; asked once for each
///               place, in order, and what it returns stays valid until the function returns
/// None if every one is null or refused.
std::optional<std::size_t> quick_winner(std::span<const double> medians_us,
                                        const std::function<const Candidate*(std::size_t)>& at,
                                        const Constraints& constraints);

/// Why a candidate may not be chosen under these constraints, in words; nothing if it may.
std::optional<std::string> refusal(const Candidate& candidate, const Constraints& constraints);

/// A config as far as its record tells before it was measured. The error of one that is not exact is unknown, so that
/// no constraint allows it; a composition repeats if its parts do, which its plan tells.
Candidate unmeasured(const Variant& variant, Params params);

/// Calls after which `b` has cost less than `a`, format building counted: 0 if at once, nothing if never.
std::optional<double> break_even_calls(const Candidate& a, const Candidate& b);

}  // namespace gnntune
