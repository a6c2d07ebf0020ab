#include "core/dispatch/choose_step.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/common/numbers.hpp"

namespace gnntune {
namespace {

double steps_of(const StepLimits& limits) {
    return limits.constraints.expected_calls > 0 ? limits.constraints.expected_calls : 1.0;
}

/// The rule for one call, among `allowed` of its options, over the runs that it makes.
std::optional<std::size_t> choose_among(const CallOptions& call, const std::vector<std::size_t>& allowed,
                                        const std::vector<Candidate>& candidates, const StepLimits& limits) {
    Constraints constraints = limits.constraints;
    constraints.expected_calls = call.runs(steps_of(limits));
    const Decision decision = choose(candidates, constraints);
    if (!decision.winner) return std::nullopt;
    return allowed[*decision.winner];
}

/// An option that breaks no constraint, by its cost without formats.
struct Priced {
    std::size_t option = 0;
    FormatMask formats = 0;
    std::int64_t workspace_bytes = 0;
    double cost_us = 0;
};

class StepSearch {
public:
    StepSearch(const SharedFormats& formats, const std::vector<CallOptions>& calls, const StepLimits& limits)
        : formats_(formats), calls_(calls), limits_(limits) {
        for (const CallOptions& call : calls) {
            std::vector<Candidate> candidates;
            for (const CallOption& o : call.options) candidates.push_back(o.candidate);
            std::vector<bool> allowed(candidates.size(), true);
            for (const Rejection& r : choose(candidates, limits.constraints).rejected) allowed[r.candidate] = false;
            std::vector<Priced> priced;
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                if (!allowed[i]) continue;
                const Candidate& c = candidates[i];
                used_ |= call.options[i].formats;
                priced.push_back({i, call.options[i].formats, c.workspace_bytes,
                                  c.build_us + call.runs(steps_of(limits)) * c.median_us});
            }
            std::stable_sort(priced.begin(), priced.end(),
                             [](const Priced& a, const Priced& b) { return a.cost_us < b.cost_us; });
            priced_.push_back(std::move(priced));
        }
        if (limits.format_bytes <= static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) {
            limit_bytes_ = static_cast<std::int64_t>(limits.format_bytes);
        }
    }

    /// The first call that has nothing to choose from.
    const CallOptions* unserved() const {
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            if (priced_[i].empty()) return &calls_[i];
        }
        return nullptr;
    }

    StepDecision decide() {
        visit(0, 0, 0);
        StepDecision decision;
        if (found_.empty()) return decision;
        const Found* cheapest = &found_.front();
        for (const Found& f : found_) {
            if (f.cost.total_us < cheapest->cost.total_us) cheapest = &f;
        }
        const auto preference = [&](const Found& f) {
            return std::tuple(unrepeatable(f.picks), f.cost.format_bytes, f.cost.workspace_bytes, f.cost.total_us);
        };
        const Found* winner = cheapest;
        for (const Found& f : found_) {
            if (tied(*cheapest, f) && preference(f) < preference(*winner)) winner = &f;
        }
        decision.picks = winner->picks;
        decision.cost = winner->cost;
        return decision;
    }

    /// The least memory that any choice takes, whatever it costs.
    std::int64_t least_bytes() {
        least_bytes_ = std::numeric_limits<std::int64_t>::max();
        visit_bytes(0, 0, 0);
        return least_bytes_;
    }

private:
    struct Found {
        Picks picks;
        StepCost cost;
    };

    // Formats below `bit` are decided: taken or left out. Nothing that needs one left out can be had, and what was
    // taken is paid for, so the rest cannot end below the bound.
    void visit(std::size_t bit, FormatMask taken, FormatMask left_out) {
        const std::int64_t room = limit_bytes_ - formats_.bytes(taken);
        if (room < 0) return;
        double bound = formats_.build_us(taken);
        for (const auto& call : priced_) {
            const Priced* best = cheapest(call, left_out, room);
            if (!best) return;
            bound += best->cost_us;
        }
        if (bound > lowest_us_ * (1 + kTieMargin)) return;
        while (bit < formats_.all().size() && !(used_ >> bit & 1U)) ++bit;
        if (bit == formats_.all().size()) {
            lowest_us_ = std::min(lowest_us_, bound);
            add_found(left_out, room);
            return;
        }
        const FormatMask format = FormatMask{1} << bit;
        visit(bit + 1, taken, left_out | format);
        visit(bit + 1, taken | format, left_out);
    }

    static const Priced* cheapest(const std::vector<Priced>& call, FormatMask left_out, std::int64_t room) {
        for (const Priced& p : call) {
            if (!(p.formats & left_out) && p.workspace_bytes <= room) return &p;
        }
        return nullptr;
    }

    // Twice: the cheapest of each call, and the one that choose() prefers within the noise.
    void add_found(FormatMask left_out, std::int64_t room) {
        Picks plain;
        Picks preferred;
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            plain.push_back(cheapest(priced_[i], left_out, room)->option);
            std::vector<std::size_t> allowed;
            std::vector<Candidate> candidates;
            for (const Priced& p : priced_[i]) {
                if (p.formats & left_out || p.workspace_bytes > room) continue;
                allowed.push_back(p.option);
                candidates.push_back(calls_[i].options[p.option].candidate);
                candidates.back().format_bytes = 0;  // held in any case
            }
            preferred.push_back(choose_among(calls_[i], allowed, candidates, limits_).value_or(plain.back()));
        }
        for (Picks* picks : {&plain, &preferred}) {
            const StepCost cost = step_cost(formats_, calls_, *picks, limits_);
            found_.push_back({std::move(*picks), cost});
        }
    }

    void visit_bytes(std::size_t bit, FormatMask taken, FormatMask left_out) {
        const std::int64_t held = formats_.bytes(taken);
        std::int64_t workspace = 0;
        for (const auto& call : priced_) {
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (const Priced& p : call) {
                if (!(p.formats & left_out)) least = std::min(least, p.workspace_bytes);
            }
            if (least == std::numeric_limits<std::int64_t>::max()) return;
            workspace = std::max(workspace, least);
        }
        if (held + workspace >= least_bytes_) return;
        while (bit < formats_.all().size() && !(used_ >> bit & 1U)) ++bit;
        if (bit == formats_.all().size()) {
            least_bytes_ = held + workspace;
            return;
        }
        const FormatMask format = FormatMask{1} << bit;
        visit_bytes(bit + 1, taken, left_out | format);
        visit_bytes(bit + 1, taken | format, left_out);
    }

    const Candidate& candidate(std::size_t call, const Picks& picks) const {
        return calls_[call].options[picks[call]].candidate;
    }

    std::size_t unrepeatable(const Picks& picks) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < picks.size(); ++i) count += candidate(i, picks).deterministic ? 0 : 1;
        return count;
    }

    // As for one call: closer than the margin, and the intervals of the totals overlap.
    bool tied(const Found& best, const Found& f) const {
        if (f.cost.total_us > best.cost.total_us * (1 + kTieMargin)) return false;
        double low = f.cost.total_us;
        double high = best.cost.total_us;
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            const double runs = calls_[i].runs(steps_of(limits_));
            const Candidate& c = candidate(i, f.picks);
            const Candidate& b = candidate(i, best.picks);
            if (c.ci_low_us > 0 && c.ci_low_us <= c.median_us) low -= runs * (c.median_us - c.ci_low_us);
            high += runs * (b.ci_high_us >= b.median_us ? b.ci_high_us - b.median_us : kTieMargin * b.median_us);
        }
        return low <= high;
    }

    const SharedFormats& formats_;
    const std::vector<CallOptions>& calls_;
    const StepLimits& limits_;
    std::vector<std::vector<Priced>> priced_;
    FormatMask used_ = 0;
    std::int64_t limit_bytes_ = std::numeric_limits<std::int64_t>::max();
    double lowest_us_ = std::numeric_limits<double>::infinity();
    std::int64_t least_bytes_ = 0;
    std::vector<Found> found_;
};

}  // namespace

StepCost step_cost(const SharedFormats& formats, const std::vector<CallOptions>& calls, const Picks& picks,
                   const StepLimits& limits) {
    StepCost cost;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const CallOption& o = calls[i].options[picks[i]];
        cost.formats |= o.formats;
        cost.own_us += o.candidate.build_us;
        cost.once_us += calls[i].runs_per_graph * o.candidate.median_us;
        cost.step_us += calls[i].runs_per_step * o.candidate.median_us;
        cost.workspace_bytes = std::max(cost.workspace_bytes, o.candidate.workspace_bytes);
    }
    cost.format_us = formats.build_us(cost.formats);
    cost.format_bytes = formats.bytes(cost.formats);
    cost.total_us = cost.format_us + cost.own_us + cost.once_us + steps_of(limits) * cost.step_us;
    cost.fits = static_cast<std::size_t>(cost.format_bytes + cost.workspace_bytes) <= limits.format_bytes;
    return cost;
}

StepDecision choose_step(const SharedFormats& formats, const std::vector<CallOptions>& calls,
                         const StepLimits& limits) {
    StepSearch search(formats, calls, limits);
    StepDecision decision;
    if (const CallOptions* call = search.unserved()) {
        decision.reason = !call->options.empty() ? "every measured config of " + call->name + " breaks a constraint"
                          : call->errata > 0     ? "no measured config of " + call->name + " may run: " + call->erratum
                                                 : "nothing was measured for " + call->name;
        return decision;
    }
    decision = search.decide();
    if (!decision.picks) {
        decision.reason = "formats and workspace may hold " + std::to_string(limits.format_bytes) +
                          " bytes together, and the least that any choice takes is " +
                          std::to_string(search.least_bytes());
        return decision;
    }
    decision.reason = "cheapest over " + count_text(steps_of(limits)) +
                      " steps, formats built: " + formats.text(decision.cost.formats);
    return decision;
}

std::optional<Picks> choose_apart(const SharedFormats& formats, const std::vector<CallOptions>& calls,
                                  const StepLimits& limits) {
    Picks picks;
    for (const CallOptions& call : calls) {
        std::vector<std::size_t> all;
        std::vector<Candidate> candidates;
        for (const CallOption& o : call.options) {
            all.push_back(all.size());
            candidates.push_back(o.candidate);
            candidates.back().build_us += formats.build_us(o.formats);
        }
        const auto pick = choose_among(call, all, candidates, limits);
        if (!pick) return std::nullopt;
        picks.push_back(*pick);
    }
    return picks;
}

}  // namespace gnntune
