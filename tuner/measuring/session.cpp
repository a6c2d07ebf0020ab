#include "tuner/measuring/session.hpp"

#include <utility>

#include "core/dispatch/candidates.hpp"
#include "tuner/measuring/guide.hpp"

namespace gnntune::tuner {

Session::Session(ProblemWorkload& workload, Stopwatch& stopwatch, Policy policy, const MeasureOptions& options,
                 const Constraints& constraints, std::vector<Contender> contenders, SessionEvents events)
    : workload_(workload),
      stopwatch_(stopwatch),
      policy_(policy),
      options_(options),
      constraints_(constraints),
      contenders_(std::move(contenders)),
      events_(std::move(events)) {
    for (std::size_t i = 0; i < contenders_.size(); ++i) numbers_[contenders_[i].config.text()] = i;
}

void Session::remember(const std::vector<Candidate>& candidates) {
    for (const Candidate& c : candidates) {
        const bool exact = !c.approximate && c.precision == Precision::fp32;
        frontier_.add(
            {c.deterministic, exact, c.capturable, c.workspace_bytes == 0, c.operand_alignment, c.format_bytes},
            c.median_us);
    }
}

std::size_t Session::number_of(const Config& config) const {
    const auto found = numbers_.find(config.text());
    return found == numbers_.end() ? contenders_.size() : found->second;
}

bool Session::measure(const std::vector<std::size_t>& numbers) {
    if (numbers.empty()) return true;
    std::vector<Contender> group;
    for (const std::size_t i : numbers) group.push_back(contenders_[i]);
    MeasureOptions options = options_;
    if (events_.group_begins) events_.group_begins(group, options);
    MeasureHooks hooks;
    hooks.stop = events_.stop;
    hooks.quit = events_.quit;
    hooks.finished = [this](const Measurement& m) { finished(m); };
    return tuner::measure(workload_, group, stopwatch_, policy_, options, hooks, frontier_);
}

bool Session::follow(Search& search) {
    search_ = &search;
    for (auto next = search.next(); !next.empty(); next = search.next()) {
        if (!measure(next)) return false;
    }
    return true;
}

void Session::finished(Measurement m) {
    const std::size_t number = number_of(m.config);
    m.prepare_us += events_.formats_us(m.config);
    taken_.insert(number);
    if (events_.measured) events_.measured(m, frontier_.best());
    if (search_) {
        tell(*search_, number, workload_.graph().graph().registry(), workload_.query(), m, constraints_);
    }
}

void tell(Search& search, std::size_t config, const Registry& registry, const Query& query, const Measurement& m,
          const Constraints& constraints) {
    const bool timed = m.status == MeasurementStatus::ok || m.status == MeasurementStatus::abandoned;
    if (!timed || m.median_us <= 0) {
        search.tell_unusable(config);
        return;
    }
    const auto candidate = candidates_of(registry, query, {m});
    const bool stands = !candidate.empty() && choose(candidate, constraints).winner;
    search.tell(config, per_call_us(m.median_us, m.prepare_us, constraints), stands);
}

}  // namespace gnntune::tuner
