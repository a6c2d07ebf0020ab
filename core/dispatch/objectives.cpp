#include "core/dispatch/objectives.hpp"

#include <algorithm>
#include <set>

namespace gnntune {

std::vector<CallsRange> calls_ranges(const std::vector<Candidate>& candidates, const Constraints& constraints) {
    std::vector<bool> allowed(candidates.size(), true);
    for (const Rejection& r : choose(candidates, constraints).rejected) allowed[r.candidate] = false;
    std::vector<CallsRange> ranges;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (!allowed[i]) continue;
        const auto cost = [&](std::size_t c) { return candidates[c].build_us + candidates[c].median_us; };
        const auto before = [&](std::size_t a, std::size_t b) {
            return std::pair(cost(a), candidates[a].median_us) < std::pair(cost(b), candidates[b].median_us);
        };
        if (ranges.empty() || before(i, ranges.front().candidate)) ranges = {{1, i}};
    }
    // The next one is faster, and of those the first to have paid for its building; of several the fastest.
    while (!ranges.empty()) {
        const Candidate& current = candidates[ranges.back().candidate];
        std::optional<CallsRange> next;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (!allowed[i] || candidates[i].median_us >= current.median_us) continue;
            const auto calls = break_even_calls(current, candidates[i]);
            if (!calls) continue;
            const bool sooner = !next || *calls < next->from_calls;
            const bool faster =
                next && *calls == next->from_calls && candidates[i].median_us < candidates[next->candidate].median_us;
            if (sooner || faster) next = {*calls, i};
        }
        if (!next) break;
        ranges.push_back(*next);
    }
    return ranges;
}

std::vector<ErrorPoint> error_front(const std::vector<Candidate>& candidates, Constraints constraints) {
    std::vector<ErrorPoint> front;
    const auto sweep = [&](bool sampling, std::size_t last) {
        std::set<double> errors;
        if (!sampling) errors.insert(0);
        for (const Candidate& c : candidates) {
            const bool exact = c.precision == Precision::fp32 && !c.approximate;
            if (!exact && c.max_error > 0 && (sampling || !c.approximate)) errors.insert(c.max_error);
        }
        constraints.allow_sampling = sampling;
        for (const double error : errors) {
            constraints.max_error = error;
            const Decision decision = choose(candidates, constraints);
            if (!decision.winner || *decision.winner == last) continue;
            last = *decision.winner;
            const bool known =
                std::any_of(front.begin(), front.end(), [&](const ErrorPoint& p) { return p.candidate == last; });
            if (!known) front.push_back({error, sampling, last});
        }
    };
    sweep(false, candidates.size());
    sweep(true, candidates.size());
    return front;
}

}  // namespace gnntune
