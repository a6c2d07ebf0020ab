#include "tuner/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace gnntune::tuner {
namespace {

constexpr Judged kVerdicts[] = {Judged::same, Judged::fast, Judged::slow, Judged::ambiguous};

// What keeps a side from being judged at all.
std::optional<std::string> unfit(const Measurement& m, std::string_view side) {
    const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
    if (!positive(m.median_us)) return fmt::format("{} has no time", side);
    if (!positive(m.ci_low_us) || !positive(m.ci_high_us) || m.ci_low_us > m.median_us || m.ci_high_us < m.median_us) {
        return fmt::format("{} has no confidence interval", side);
    }
    if (!positive(m.q1_us) || !positive(m.q3_us)) return fmt::format("{} has no quartiles", side);
    if (m.samples < kFewestSamples) {
        return fmt::format("{} has {} samples, {} are needed", side, m.samples, kFewestSamples);
    }
    return std::nullopt;
}

// Whether `slow` is slower than `fast` beyond the margin; both times multiplied by factors.
bool slower(const Measurement& slow, double slow_factor, const Measurement& fast, double fast_factor, double margin) {
    return slow.ci_low_us * slow_factor > fast.ci_high_us * fast_factor * (1 + margin) &&
           slow.q1_us * slow_factor > fast.q3_us * fast_factor;
}

}  // namespace

std::string_view to_text(Judged verdict) {
    switch (verdict) {
        case Judged::same:
            return "SAME";
        case Judged::fast:
            return "FAST";
        case Judged::slow:
            return "SLOW";
        case Judged::ambiguous:
            return "AMBIGUOUS";
    }
    return "?";
}

std::optional<Judged> parse_judged(std::string_view text) {
    std::string capitals(text);
    std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    for (const Judged verdict : kVerdicts) {
        if (capitals == to_text(verdict)) return verdict;
    }
    return std::nullopt;
}

Judgement judge(const Measurement& a, const Measurement& b) {
    Judgement j;
    const auto unfit_a = unfit(a, "the first");
    const auto unfit_b = unfit(b, "the second");
    if (a.median_us > 0 && b.median_us > 0) {
        j.ratio = b.median_us / a.median_us;
        j.margin = kRunMargin + kClockMargin_us / std::min(a.median_us, b.median_us);
    }
    if (unfit_a || unfit_b) {
        j.reason = unfit_a ? *unfit_a : *unfit_b;
        return j;
    }
    j.ratio_low = b.ci_low_us / a.ci_high_us;
    j.ratio_high = b.ci_high_us / a.ci_low_us;
    const bool is_slow = slower(b, 1, a, 1, j.margin);
    const bool is_fast = slower(a, 1, b, 1, j.margin);
    if (is_slow || is_fast) {
        const bool clocks = a.sm_clock_mhz > 0 && b.sm_clock_mhz > 0;
        const double factor_a = clocks ? a.sm_clock_mhz : 1;
        const double factor_b = clocks ? b.sm_clock_mhz : 1;
        if (is_slow ? slower(b, factor_b, a, factor_a, j.margin) : slower(a, factor_a, b, factor_b, j.margin)) {
            j.verdict = is_slow ? Judged::slow : Judged::fast;
        } else {
            j.reason = fmt::format("the SM clocks explain it, {} and {} MHz", a.sm_clock_mhz, b.sm_clock_mhz);
        }
        return j;
    }
    if (j.ratio_high <= 1 + j.margin && 1 / j.ratio_low <= 1 + j.margin) {
        j.verdict = Judged::same;
        return j;
    }
    j.reason = j.ratio_low > 1 + j.margin || 1 / j.ratio_high > 1 + j.margin
                   ? "the quartiles overlap"
                   : fmt::format("anything from {:+.1f} to {:+.1f} % is possible, and {:.1f} % is noise between runs",
                                 100 * (j.ratio_low - 1), 100 * (j.ratio_high - 1), 100 * j.margin);
    return j;
}

}  // namespace gnntune::tuner
