#include "tuner/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "profiles/store/environment_words.hpp"

namespace gnntune::tuner {
namespace {

std::string environment_text(const Environment& e) {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", to_text(e.backend), e.device_name, e.compute_capability,
                       e.multiprocessors, e.memory_bytes, e.l2_bytes, e.driver, e.cuda_runtime, e.libraries);
}

// What both sides must share in any case.
std::string subject(const Recorded& r) {
    const Measurement& m = r.measurement;
    return fmt::format("{} {} {} {} {}", r.fingerprint.text(), to_text(r.problem), to_text(m.policy), to_text(m.clock),
                       m.config.text());
}

// An attempt, but for its parts: of rows that agree in this the last counts (docs/database.md).
std::string attempt(const Recorded& r) {
    return fmt::format("{} @{} {}", subject(r), r.measurement.variant_version, environment_text(r.environment));
}

bool timed(const Measurement& m) {
    return (m.status == MeasurementStatus::ok || m.status == MeasurementStatus::abandoned) && m.median_us > 0;
}

// What differs between two measurements of one config, in words.
std::string differences(const Recorded& a, const Recorded& b) {
    std::vector<std::string> words = store::differences(a.environment, b.environment);
    if (a.measurement.variant_version != b.measurement.variant_version) {
        words.push_back(fmt::format("version {} -> {}", a.measurement.variant_version, b.measurement.variant_version));
    }
    if (a.measurement.parts != b.measurement.parts) {
        words.push_back(fmt::format("parts {} -> {}", store::parts_text(a.measurement.parts),
                                    store::parts_text(b.measurement.parts)));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

// The rows that count, in the order they were taken.
std::vector<const Recorded*> counting(const Side& side) {
    std::unordered_map<std::string, std::size_t> last;
    for (std::size_t i = 0; i < side.measurements.size(); ++i) last[attempt(side.measurements[i])] = i;
    std::vector<std::size_t> order;
    for (const auto& [text, i] : last) order.push_back(i);
    std::sort(order.begin(), order.end());
    std::vector<const Recorded*> rows;
    for (const std::size_t i : order) rows.push_back(&side.measurements[i]);
    return rows;
}

void add(Comparison& out, const Recorded& a, const Recorded& b) {
    const bool timed_a = timed(a.measurement);
    const bool timed_b = timed(b.measurement);
    if (!timed_a && !timed_b) return;  // neither side says anything about time
    const std::string across = differences(a, b);
    if (timed_a && timed_b) {
        out.pairs.push_back({a, b, across, judge(a.measurement, b.measurement)});
    } else {
        out.changes.push_back({a, b, across});
    }
}

// Takes out of both lists what `key` makes one, in the order of a.
template <typename Key>
void match(std::vector<const Recorded*>& a, std::vector<const Recorded*>& b, Key key, Comparison& out) {
    std::unordered_map<std::string, std::size_t> of_b;
    for (std::size_t i = 0; i < b.size(); ++i) of_b[key(*b[i])] = i;  // the newest
    std::unordered_map<std::string, std::size_t> of_a;
    for (std::size_t i = 0; i < a.size(); ++i) of_a[key(*a[i])] = i;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::string text = key(*a[i]);
        const auto found = of_b.find(text);
        if (found == of_b.end() || of_a.at(text) != i) continue;
        add(out, *a[i], *b[found->second]);
        a[i] = b[found->second] = nullptr;
    }
    std::erase(a, nullptr);
    std::erase(b, nullptr);
}

// --- choices ---

struct Named {
    std::string graph;
    const Problem* problem = nullptr;
    const Environment* environment = nullptr;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::map<std::string, double> times;  // by config, of those timed to the end
    Config fastest;                       // of the exact ones
    double fastest_us = 0;
    std::optional<Config> stored;
};

std::string problem_text(const Fingerprint& fingerprint, const Environment& environment, const Problem& problem,
                         Policy policy, Clock clock) {
    return fmt::format("{} {} {} {} {}", fingerprint.text(), to_text(problem), to_text(policy), to_text(clock),
                       environment_text(environment));
}

std::map<std::string, Named> named(const Side& side) {
    std::map<std::string, Named> out;
    for (const Recorded* r : counting(side)) {
        const Measurement& m = r->measurement;
        if (m.status != MeasurementStatus::ok || m.median_us <= 0) continue;
        Named& n = out[problem_text(r->fingerprint, r->environment, r->problem, m.policy, m.clock)];
        n.graph = r->graph;
        n.problem = &r->problem;
        n.environment = &r->environment;
        n.policy = m.policy;
        n.clock = m.clock;
        n.times[m.config.text()] = m.median_us;  // the newest version is the last
        if (!m.approximate && (n.fastest_us == 0 || m.median_us < n.fastest_us)) {
            n.fastest = m.config;
            n.fastest_us = m.median_us;
        }
    }
    for (const RecordedChoice& c : side.choices) {
        const auto found = out.find(problem_text(c.fingerprint, c.environment, c.problem, c.policy, c.clock));
        if (found != out.end()) found->second.stored = c.config;
    }
    return out;
}

std::optional<double> regret(const Named& n, const Config& chosen, const Config& better) {
    const auto x = n.times.find(chosen.text());
    const auto y = n.times.find(better.text());
    if (x == n.times.end() || y == n.times.end()) return std::nullopt;
    return x->second / y->second - 1;
}

void compare_choices(const Side& a, const Side& b, Comparison& out) {
    const auto of_a = named(a);
    const auto of_b = named(b);
    for (const auto& [key, x] : of_a) {
        const auto found = of_b.find(key);
        if (found == of_b.end()) continue;
        const Named& y = found->second;
        const bool stored = x.stored && y.stored;
        if (!stored && (x.fastest_us == 0 || y.fastest_us == 0)) continue;
        const Config& chosen_a = stored ? *x.stored : x.fastest;
        const Config& chosen_b = stored ? *y.stored : y.fastest;
        ++out.chosen;
        if (chosen_a.text() == chosen_b.text()) continue;
        out.choices.push_back({x.graph, *x.problem, x.environment->device_name, x.policy, x.clock, chosen_a, chosen_b,
                               regret(y, chosen_a, chosen_b), regret(x, chosen_b, chosen_a)});
    }
}

}  // namespace

Side side_of(const store::Store& store, const SideFilter& filter) {
    Side side;
    const auto environments = store.environments();
    const auto problems = store.problems();
    std::map<std::int64_t, Fingerprint> fingerprints;
    for (const store::GraphRow& g : store.graphs()) {
        if (filter.graph && !filter.graph(g.record.fingerprint)) continue;
        fingerprints.emplace(g.id, g.record.fingerprint);
        for (const store::EnvironmentRow& e : environments) {
            for (const store::ProblemRow& p : problems) {
                if (filter.problem && !filter.problem(p.problem)) continue;
                for (Measurement& m : store.measurements({g.id, e.id, p.id})) {
                    side.measurements.push_back(
                        {g.record.fingerprint, g.record.name, e.environment, p.problem, std::move(m)});
                }
            }
        }
    }
    for (const store::ChoiceRow& c : store.choices()) {
        const auto graph = fingerprints.find(c.key.graph);
        if (graph == fingerprints.end() || (filter.problem && !filter.problem(c.problem))) continue;
        side.choices.push_back({graph->second, c.environment, c.problem, c.policy, c.clock, c.choice.config});
    }
    return side;
}

Comparison compare(const Side& a, const Side& b, const CompareOptions& options) {
    Comparison out;
    auto left_a = counting(a);
    auto left_b = counting(b);
    match(
        left_a, left_b, [](const Recorded& r) { return attempt(r) + " " + store::parts_text(r.measurement.parts); },
        out);
    if (options.across) match(left_a, left_b, subject, out);
    for (const Recorded* r : left_a) {
        if (timed(r->measurement)) out.only_a.push_back(*r);
    }
    for (const Recorded* r : left_b) {
        if (timed(r->measurement)) out.only_b.push_back(*r);
    }
    compare_choices(a, b, out);
    return out;
}

std::vector<Tally> tally(const Comparison& comparison) {
    struct Sums {
        Tally tally;
        double logs = 0;
        std::int64_t ratios = 0;
    };
    std::map<std::pair<Op, std::string>, Sums> by_variant;
    Sums all;
    const auto each = [&](const Recorded& r, auto change) {
        Sums& sums = by_variant[{r.problem.op, r.measurement.config.variant}];
        sums.tally.op = to_text(r.problem.op);
        sums.tally.variant = r.measurement.config.variant;
        change(sums);
        change(all);
    };
    for (const Pair& p : comparison.pairs) {
        each(p.a, [&p](Sums& sums) {
            switch (p.judgement.verdict) {
                case Judged::same:
                    ++sums.tally.same;
                    break;
                case Judged::fast:
                    ++sums.tally.fast;
                    break;
                case Judged::slow:
                    ++sums.tally.slow;
                    break;
                case Judged::ambiguous:
                    ++sums.tally.ambiguous;
                    break;
            }
            if (p.a.measurement.status != MeasurementStatus::ok || p.b.measurement.status != MeasurementStatus::ok)
                return;
            sums.logs += std::log(p.judgement.ratio);
            ++sums.ratios;
        });
    }
    for (const Recorded& r : comparison.only_a) each(r, [](Sums& sums) { ++sums.tally.only_a; });
    for (const Recorded& r : comparison.only_b) each(r, [](Sums& sums) { ++sums.tally.only_b; });
    std::vector<Tally> out;
    const auto finish = [&out](Sums& sums) {
        if (sums.ratios > 0) sums.tally.geomean = std::exp(sums.logs / static_cast<double>(sums.ratios));
        out.push_back(std::move(sums.tally));
    };
    for (auto& [key, sums] : by_variant) finish(sums);
    if (!out.empty()) finish(all);
    return out;
}

}  // namespace gnntune::tuner
