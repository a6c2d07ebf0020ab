#include "tuner/measuring/measure.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

#include "core/common/error.hpp"
#include "tuner/measuring/burst_filter.hpp"
#include "tuner/measuring/captured_calls.hpp"
#include "tuner/measuring/gpu_state.hpp"

namespace gnntune::tuner {
namespace {

// A contender that passed its check, with its plan and its samples so far.
struct Racer {
    Contender* contender = nullptr;
    std::unique_ptr<Plan> plan;
    std::optional<CapturedCalls> captured;  // Policy::graph
    Frontier::Traits traits;
    BurstFilter bursts;
    bool finished = false;
};

std::string rounded(double ratio) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", ratio);
    return text;
}

void fill(Measurement& m, const Racer& racer) {
    const Summary s = summarise(racer.bursts.samples());
    m.median_us = s.median;
    m.q1_us = s.q1;
    m.q3_us = s.q3;
    m.min_us = s.min;
    m.ci_low_us = s.ci_low;
    m.ci_high_us = s.ci_high;
    m.samples = static_cast<std::int64_t>(s.samples);
    m.sm_clock_mhz = racer.bursts.clock_mhz();
    // Why an ok row may not be what it should.
    if (const std::string remark = racer.bursts.remark(); !remark.empty()) {
        m.reason += (m.reason.empty() ? "" : "; ") + remark;
    }
}

// Builds and checks; leaves the verdict in the contender's measurement.
std::unique_ptr<Plan> admit(ProblemWorkload& workload, Contender& c) {
    GraphWorkload& graph = workload.graph();
    Measurement& m = c.measurement;
    try {
        auto plan = std::make_unique<Plan>(graph.graph(), workload.problem(), c.config, graph.stream());
        m.parts = plan->parts();
        m.prepare_us = plan->own_prepare_us();
        m.workspace_bytes = static_cast<std::int64_t>(plan->workspace_bytes());
        m.format_bytes = static_cast<std::int64_t>(plan->format_bytes());
        m.deterministic = plan->deterministic();
        m.approximate = plan->variant().approximate || plan->variant().precision != Precision::fp32;
        const auto result = workload.check(*plan);
        m.max_error = result.max_error;
        m.mean_error = result.mean_error;
        m.worst_ratio = result.worst_ratio;
        if (!result.pass()) {
            m.status = MeasurementStatus::wrong;
            m.reason = "element " + std::to_string(result.worst_at) + " misses the oracle by " +
                       std::to_string(result.worst_ratio) + " times the tolerance";
            return nullptr;
        }
        m.status = MeasurementStatus::ok;
        return plan;
    } catch (const std::exception& e) {
        m.status = MeasurementStatus::failed;
        m.reason = e.what();
        return nullptr;
    }
}

// A kernel that faults leaves the process without a usable GPU: what follows would fail for no reason of its own.
void stop_if_broken(GraphWorkload& graph, const Measurement& m) {
    if (m.status != MeasurementStatus::failed) return;
    try {
        graph.synchronise();
    } catch (const Error& e) {
        throw Error(ErrorKind::runtime, m.config.text() + " left the GPU in an error state (" + e.what() +
                                            "); run the same command again, it goes on with the next config");
    }
}

}  // namespace

Measurement refused(const Variant& variant, const std::string& reason, Policy policy, Clock clock) {
    Measurement m;
    m.config.variant = variant.id;
    m.variant_version = variant.version;
    m.policy = policy;
    m.clock = clock;
    m.status = MeasurementStatus::refused;
    m.reason = reason;
    return m;
}

bool measure(ProblemWorkload& workload, std::vector<Contender>& contenders, Stopwatch& stopwatch, Policy policy,
             const MeasureOptions& options, const MeasureHooks& hooks, Frontier& frontier) {
    GraphWorkload& graph = workload.graph();
    const auto stopped = [&] { return hooks.stop && hooks.stop(); };
    std::vector<Racer> racers;
    racers.reserve(contenders.size());
    const auto finish = [&](Racer& racer) {
        racer.finished = true;
        fill(racer.contender->measurement, racer);
        if (hooks.finished) hooks.finished(racer.contender->measurement);
    };

    const auto finish_stopped = [&] {
        for (Racer& racer : racers) {
            if (racer.finished || options.enough_when_stopped == 0) continue;
            const Summary s = summarise(racer.bursts.samples());
            if (s.samples < static_cast<std::size_t>(options.enough_when_stopped)) continue;
            frontier.add(racer.traits, s.median);
            finish(racer);
        }
    };

    for (Contender& c : contenders) {
        if (stopped()) return false;
        workload.prepare_oracles();
        c.measurement.config = c.config;
        // Before anything can fail: a failure is of this version too.
        if (const Variant* v = graph.graph().registry().find(c.config.variant)) {
            c.measurement.variant_version = v->version;
        }
        c.measurement.policy = policy;
        c.measurement.clock = stopwatch.clock();
        auto plan = admit(workload, c);
        if (!plan) {
            if (hooks.finished) hooks.finished(c.measurement);
            stop_if_broken(workload.graph(), c.measurement);
            continue;
        }
        Racer racer;
        racer.contender = &c;
        racer.traits = Frontier::traits_of(*plan);
        racer.plan = std::move(plan);
        racer.bursts = BurstFilter(options.clock_drop, options.max_discarded);
        racers.push_back(std::move(racer));
    }

    // Workspace has its last address now: every plan was checked.
    for (Racer& racer : racers) {
        if (policy != Policy::graph) break;
        try {
            if (workload.graph().device().backend != Backend::cuda) throw unsupported("the CPU has no CUDA graphs");
            if (!racer.plan->capturable()) throw unsupported("its launches cannot be captured in a CUDA graph");
            racer.captured.emplace([&] { workload.run(*racer.plan); }, workload.graph().stream());
        } catch (const Error& e) {
            racer.contender->measurement.status =
                e.kind() == ErrorKind::unsupported ? MeasurementStatus::refused : MeasurementStatus::failed;
            racer.contender->measurement.reason = e.what();
            finish(racer);
            stop_if_broken(workload.graph(), racer.contender->measurement);
        }
    }

    // Medians of single bursts, good enough to see who is hopeless. They do not decide who contends: a lucky first
    // burst would stop its own config too early.
    Frontier provisional = frontier;
    for (int round = 0;; ++round) {
        bool running = false;
        for (Racer& racer : racers) {
            if (racer.finished) continue;
            if (stopped()) {
                finish_stopped();
                return false;
            }
            const auto call = [&] { racer.captured ? racer.captured->launch() : workload.run(*racer.plan); };
            const double calls = racer.captured ? CapturedCalls::kCalls : 1;
            try {
                call();  // brings code and, for the hot policy, inputs into the caches
                workload.graph().synchronise();
                auto times = stopwatch.time(call, options.burst, policy);
                for (double& t : times) t /= calls;
                racer.bursts.add(std::move(times), hooks.clock ? hooks.clock() : clock_state(graph.device()));
            } catch (const std::exception& e) {
                racer.contender->measurement.status = MeasurementStatus::failed;
                racer.contender->measurement.reason = e.what();
                finish(racer);
                stop_if_broken(workload.graph(), racer.contender->measurement);
                continue;
            }
            const Summary s = summarise(racer.bursts.samples());
            if (s.samples == 0) {  // all discarded so far
                running = true;
                continue;
            }
            const bool contends =
                racer.contender->keep || s.median <= options.stop_factor * frontier.best_for(racer.traits);
            const double best_us = provisional.best_for(racer.traits);
            if (racer.bursts.counting() <= 2 && !racer.contender->keep && s.min > options.abandon_factor * best_us) {
                racer.contender->measurement.status = MeasurementStatus::abandoned;
                racer.contender->measurement.reason =
                    "its fastest call took " + rounded(s.min / best_us) + " times the best median";
                finish(racer);
                continue;
            }
            const auto n = static_cast<int>(s.samples);
            const bool steady = s.relative_error() <= options.steady_error;
            if (n >= options.unsteady_factor * options.max_samples || (steady && n >= options.max_samples) ||
                (steady && n >= options.min_samples && (!contends || s.relative_error() <= options.target_error))) {
                frontier.add(racer.traits, s.median);
                finish(racer);
                continue;
            }
            if (n >= options.min_samples) frontier.add(racer.traits, s.median);
            running = true;
        }
        if (round == 0) {
            for (const Racer& racer : racers) {
                if (!racer.finished && racer.bursts.counting() > 0)
                    provisional.add(racer.traits, summarise(racer.bursts.samples()).median);
            }
        }
        if (!running) return true;
    }
}

}  // namespace gnntune::tuner
