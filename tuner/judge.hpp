// Whether one of two measurements of the same thing is slower: a verdict, never a ratio alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/dispatch/choose.hpp"
#include "core/registry/measurement.hpp"

namespace gnntune::tuner {

/// About the second of two measurements, seen from the first.
enum class Judged : std::int32_t { same, fast, slow, ambiguous };

/// "SAME", "FAST", "SLOW", "AMBIGUOUS".
std::string_view to_text(Judged verdict);
/// In capitals or not.
std::optional<Judged> parse_judged(std::string_view text);

/// Fewer order statistics hold the median with less than 95 %: 1 - 2 / 2^6 = 97 %, 1 - 2 / 2^5 = 94 %.
inline constexpr std::int64_t kFewestSamples = 6;

struct Judgement {
    Judged verdict = Judged::ambiguous;
    double ratio = 0;       ///< median of b over that of a; 0 if there is none
    double ratio_low = 0;   ///< the ratio if both medians lie at the ends of their intervals that favour b
    double ratio_high = 0;  ///< the same against b; both 0 if an interval is not known
    double margin = 0;      ///< what the ratio was held against: kRunMargin + kClockMargin_us / the smaller median
    std::string reason;     ///< why it is AMBIGUOUS; empty for the other verdicts
};

/// Judges `b` against `a`, two measurements of one config on one problem, graph, device, policy and clock.
///
/// Let low = b.ci_low / a.ci_high, high = b.ci_high / a.ci_low, and margin as above. In this order:
///  1. AMBIGUOUS if a median is not above zero, an interval is not known or does not hold its median, quartiles are not
///     known, or a side has fewer than kFewestSamples samples.
///  2. SLOW if low > 1 + margin, so that the intervals are apart by more than the margin, and the quartiles are apart,
///     b.q1 > a.q3: most samples of b are slower than most of a, not only the medians.
///  3. FAST likewise with a and b exchanged.
///  4. In 2 and 3, if both SM clocks are known and differ: AMBIGUOUS unless the same holds in cycles, times multiplied
///     by the clocks. What a slower clock explains is not the config's.
///  5. SAME if high <= 1 + margin and 1 / low <= 1 + margin: no times within the intervals differ by more than the
///     margin.
///  6. AMBIGUOUS else: the intervals are too wide to say that there is a difference, or that there is none.
Judgement judge(const Measurement& a, const Measurement& b);

}  // namespace gnntune::tuner
