#include "tuner/measuring/measure.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "core/common/elapsed.hpp"
#include "core/common/error.hpp"
#include "tuner/measuring/burst_filter.hpp"
#include "tuner/measuring/captured_calls.hpp"
#include "tuner/measuring/gpu_state.hpp"
#include "tuner/measuring/statistics.hpp"

namespace gnntune::tuner {
namespace {

// A contender that passed its check, with its plan and its samples so far.
struct Racer {
    Contender* contender = nullptr;
    std::unique_ptr<Plan> plan;
    std::optional<CapturedCalls> captured;  // Policy::graph
    Frontier::Traits traits;
    BurstFilter bursts;
    LostCalls lost;
    bool long_calls = false;  // a burst is one call
    bool finished = false;

    int samples() const { return static_cast<int>(bursts.samples().size()); }
};

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
    const auto remark = [&m](const std::string& text) { m.reason += (m.reason.empty() ? "" : "; ") + text; };
    if (const std::string text = racer.bursts.remark(); !text.empty()) remark(text);
    if (m.status == MeasurementStatus::ok && racer.lost.calls > m.samples) {
        remark(fmt::format("{} calls more waited for a processor and do not count", racer.lost.calls));
    }
}

// Whoever had the processor, this program's own threads among them.
std::string disturbed_words(const LostCalls& lost, int samples) {
    std::string words = fmt::format("{}{} of {} calls waited for a processor, of {:.1f} ms each on average", kDisturbed,
                                    lost.calls, lost.calls + samples, lost.us / 1e3 / lost.calls);
    const int threads = omp_get_max_threads();
    const int processors = omp_get_num_procs();
    if (threads > processors) {
        words += fmt::format("; OpenMP runs {} threads on {} processors, set OMP_NUM_THREADS", threads, processors);
    }
    return words;
}

// Of a plan's own preparation: what a processor that was away for a moment adds to less is little beside the calls.
constexpr double kUnnoticedUs = 200;

std::unique_ptr<Plan> planned(ProblemWorkload& workload, Contender& c) {
    GraphWorkload& graph = workload.graph();
    std::unique_ptr<Plan> plan;
    c.measurement.prepare_us = least_us(kUnnoticedUs, [&] {
        plan.reset();  // before the next one takes as much memory
        plan = std::make_unique<Plan>(graph.graph(), workload.problem(), c.config, graph.stream());
        return plan->own_prepare_us();
    });
    return plan;
}

// Builds and checks; leaves the verdict in the contender's measurement.
std::unique_ptr<Plan> admit(ProblemWorkload& workload, Contender& c) {
    Measurement& m = c.measurement;
    try {
        auto plan = planned(workload, c);
        m.parts = plan->parts();
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
        m.reason = words_of(e);
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

// Racers taking turns, a burst each.
class Race {
public:
    Race(ProblemWorkload& workload, Stopwatch& stopwatch, Policy policy, const MeasureOptions& options,
         const MeasureHooks& hooks, Frontier& frontier)
        : workload_(workload),
          stopwatch_(stopwatch),
          policy_(policy),
          options_(options),
          hooks_(hooks),
          frontier_(frontier),
          provisional_(frontier) {}

    bool run(std::vector<Contender>& contenders) {
        const bool all = admit_all(contenders);
        if (!all && !owing()) return false;
        capture_all();
        for (int round = 0;; ++round) {
            bool running = false;
            for (Racer& racer : racers_) {
                if (racer.finished) continue;
                const bool quit = asked(hooks_.quit);
                if (quit || (asked(hooks_.stop) && !owes(racer))) {
                    if (quit || !owing()) {
                        finish_stopped();
                        return false;
                    }
                } else if (burst(racer)) {
                    judge(racer);
                }
                running = running || !racer.finished;
            }
            if (round == 0) note_first_bursts();
            if (!running) return all;
        }
    }

private:
    static bool asked(const std::function<bool()>& hook) { return hook && hook(); }

    /// Whether the racer is to be timed although it is late.
    bool owes(const Racer& racer) const {
        return options_.first_in_any_case && racer.contender == first_ && !racer.finished &&
               racer.samples() < options_.enough_when_stopped;
    }
    bool owing() const {
        return std::any_of(racers_.begin(), racers_.end(), [this](const Racer& racer) { return owes(racer); });
    }

    /// False if a hook ended it before the last one.
    bool admit_all(std::vector<Contender>& contenders) {
        racers_.reserve(contenders.size());
        if (!contenders.empty()) first_ = &contenders.front();
        for (Contender& c : contenders) {
            const bool late = asked(hooks_.stop) && !(options_.first_in_any_case && &c == first_);
            if (late || asked(hooks_.quit)) return false;
            workload_.prepare_oracles();
            c.measurement.config = c.config;
            // Before anything can fail: a failure is of this version too.
            if (const Variant* v = graph().graph().registry().find(c.config.variant)) {
                c.measurement.variant_version = v->version;
            }
            c.measurement.policy = policy_;
            c.measurement.clock = stopwatch_.clock();
            auto plan = admit(workload_, c);
            if (!plan) {
                if (hooks_.finished) hooks_.finished(c.measurement);
                stop_if_broken(graph(), c.measurement);
                continue;
            }
            Racer racer;
            racer.contender = &c;
            racer.traits = Frontier::traits_of(*plan);
            racer.plan = std::move(plan);
            racer.bursts = BurstFilter(options_.clock_drop, options_.max_discarded);
            racers_.push_back(std::move(racer));
        }
        return true;
    }

    // Workspace has its last address now: every plan was checked.
    void capture_all() {
        for (Racer& racer : racers_) {
            if (policy_ != Policy::graph) break;
            try {
                if (graph().device().backend != Backend::cuda) throw unsupported("the CPU has no CUDA graphs");
                if (!racer.plan->capturable()) throw unsupported("its launches cannot be captured in a CUDA graph");
                racer.captured.emplace([&] { workload_.run(*racer.plan); }, graph().stream());
            } catch (const Error& e) {
                fail(racer, e.kind() == ErrorKind::unsupported ? MeasurementStatus::refused : MeasurementStatus::failed,
                     e.what());
            }
        }
    }

    /// False if it failed, and is finished.
    bool burst(Racer& racer) {
        const auto call = [&] { racer.captured ? racer.captured->launch() : workload_.run(*racer.plan); };
        const double calls = racer.captured ? CapturedCalls::kCalls : 1;
        try {
            if (!racer.long_calls) {
                const Instant begin = std::chrono::steady_clock::now();
                call();  // brings code and, for the hot policy, inputs into the caches
                graph().synchronise();
                racer.long_calls = us_since(begin) > options_.long_call_us;
            }
            auto times = stopwatch_.time(call, racer.long_calls ? 1 : options_.burst, policy_);
            racer.lost += stopwatch_.lost();
            for (double& t : times) t /= calls;
            if (!times.empty()) {
                racer.bursts.add(std::move(times), hooks_.clock ? hooks_.clock() : clock_state(graph().device()));
            }
            return true;
        } catch (const std::exception& e) {
            fail(racer, MeasurementStatus::failed, words_of(e));
            return false;
        }
    }

    /// Finishes the racer if its samples say enough.
    void judge(Racer& racer) {
        const Summary s = summarise(racer.bursts.samples());
        const auto n = static_cast<int>(s.samples);
        Measurement& m = racer.contender->measurement;
        if (racer.lost.calls >= options_.most_lost_calls && racer.lost.us >= options_.most_lost_us) {
            if (n < options_.min_samples) return fail(racer, MeasurementStatus::failed, disturbed_words(racer.lost, n));
            if (s.relative_error() > options_.steady_error) {
                m.reason = fmt::format("{}{} calls give no narrow interval", kStoppedEarly, n);
            }
            frontier_.add(racer.traits, s.median);
            return finish(racer);
        }
        if (n == 0) return;  // all discarded so far
        const bool contends =
            racer.contender->keep || s.median <= options_.stop_factor * frontier_.best_for(racer.traits);
        const double best_us = provisional_.best_for(racer.traits);
        if (racer.bursts.counting() <= 2 && !racer.contender->keep && s.min > options_.abandon_factor * best_us) {
            m.status = MeasurementStatus::abandoned;
            m.reason = fmt::format("its fastest call took {:.1f} times the best median", s.min / best_us);
            return finish(racer);
        }
        const bool steady = s.relative_error() <= options_.steady_error;
        if (n >= options_.unsteady_factor * options_.max_samples || (steady && n >= options_.max_samples) ||
            (steady && n >= options_.min_samples && (!contends || s.relative_error() <= options_.target_error))) {
            frontier_.add(racer.traits, s.median);
            return finish(racer);
        }
        if (n >= options_.min_samples) frontier_.add(racer.traits, s.median);
    }

    void finish(Racer& racer) {
        racer.finished = true;
        fill(racer.contender->measurement, racer);
        if (hooks_.finished) hooks_.finished(racer.contender->measurement);
    }
    void fail(Racer& racer, MeasurementStatus status, const std::string& reason) {
        racer.contender->measurement.status = status;
        racer.contender->measurement.reason = reason;
        finish(racer);
        stop_if_broken(graph(), racer.contender->measurement);
    }
    void finish_stopped() {
        for (Racer& racer : racers_) {
            const int n = racer.samples();
            if (racer.finished || options_.enough_when_stopped == 0 || n < options_.enough_when_stopped) continue;
            racer.contender->measurement.reason =
                fmt::format("{}{} of at least {} calls were timed", kStoppedEarly, n, options_.min_samples);
            frontier_.add(racer.traits, summarise(racer.bursts.samples()).median);
            finish(racer);
        }
    }
    void note_first_bursts() {
        for (const Racer& racer : racers_) {
            if (!racer.finished && racer.bursts.counting() > 0) {
                provisional_.add(racer.traits, summarise(racer.bursts.samples()).median);
            }
        }
    }

    GraphWorkload& graph() { return workload_.graph(); }

    ProblemWorkload& workload_;
    Stopwatch& stopwatch_;
    Policy policy_;
    const MeasureOptions& options_;
    const MeasureHooks& hooks_;
    Frontier& frontier_;
    /// Medians of single bursts, good enough to see who is hopeless. They do not decide who contends: a lucky first
    /// burst would stop its own config too early.
    Frontier provisional_;
    std::vector<Racer> racers_;
    const Contender* first_ = nullptr;
};

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
    return Race(workload, stopwatch, policy, options, hooks, frontier).run(contenders);
}

}  // namespace gnntune::tuner
