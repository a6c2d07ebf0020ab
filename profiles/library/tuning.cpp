#include "profiles/library/tuning.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "core/common/elapsed.hpp"
#include "core/common/error.hpp"
#include "profiles/library/miss_search.hpp"
#include "profiles/library/miss_store.hpp"
#include "tuner/measuring/device_lock.hpp"

namespace gnntune::library {
namespace {

std::string key_of(Graph& graph, const Request& request) {
    return fmt::format("{} {} {}", graph.fingerprint().text(), to_text(request.problem), to_text(request.policy));
}

// The GPU to itself, as far as other gnntunes are concerned. Nothing for the cpu, where no file can be locked, and
// where another has it, which `holder` then names: a plan does not wait for one that may tune for hours.
std::optional<tuner::DeviceLock> lock(const Device& device, std::string& holder) {
    if (device.backend != Backend::cuda) return std::nullopt;
    tuner::DeviceLock::Options options;
    options.command = fmt::format("tune_on_miss of {}", program_invocation_short_name);
    options.waiting = [&](const tuner::DeviceLock::Holder& h) { holder = tuner::DeviceLock::describe(h); };
    options.stop = [] { return true; };
    try {
        return tuner::DeviceLock::take(device.uuid, tuner::DeviceLock::default_folders(), options);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void measure_and_store(const Context& context, Graph& graph, const Request& request, Tuning& tuning) {
    std::string holder;
    const auto alone = lock(context.device, holder);
    if (!holder.empty()) {
        tuning.why_not = "the GPU is in use for measuring by " + holder + "; the next plan that misses tries again";
        tuning.passing = true;
        return;
    }
    MissSearch search(context, graph, request);
    tuning.configs = search.configs();
    search.run();
    tuning.measured = search.timed();
    tuning.why_not = search.why_not();
    tuning.passing = !tuning.why_not.empty() && search.disturbed() > 0;
    if (!tuning.why_not.empty()) return;
    const Measured measured = search.take();
    context.snapshot.learn(graph.fingerprint(), request.problem, measured.rows);
    try {
        store_measured(context, graph, request.problem, measured);
        tuning.stored_in = context.user_database.string();
    } catch (const std::exception& error) {
        tuning.why_not_stored = words_of(error);
    }
}

Tuning tune_now(const Context& context, Graph& graph, const Request& request) {
    Tuning tuning;
    tuning.budget_us = context.tune_budget_us;
    const Instant begin = std::chrono::steady_clock::now();
    try {
        measure_and_store(context, graph, request, tuning);
    } catch (const Error& error) {
        tuning.why_not = error.what();
        tuning.ran_out = error.kind() == ErrorKind::out_of_memory;
    } catch (const std::bad_alloc&) {
        tuning.why_not = "host memory ran out";
        tuning.ran_out = true;
    }
    tuning.passing = tuning.passing || tuning.ran_out;
    tuning.spent_us = us_since(begin);
    return tuning;
}

}  // namespace

std::string to_text(const Tuning& tuning) {
    if (!tuning.why_not.empty()) return "not tuned: " + tuning.why_not;
    return fmt::format(
        "{} of {} configs in {:.0f} ms, {}", tuning.measured, tuning.configs, tuning.spent_us / 1e3,
        tuning.stored_in.empty() ? "not stored: " + tuning.why_not_stored : "stored in " + tuning.stored_in);
}

std::shared_ptr<const Tuning> Tunings::find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = done_.find(key);
    return found == done_.end() ? nullptr : found->second;
}

std::shared_ptr<const Tuning> Tunings::find(Graph& graph, const Request& request) const {
    return find(key_of(graph, request));
}

std::shared_ptr<const Tuning> Tunings::tune(const Context& context, Graph& graph, const Request& request) {
    const std::string key = key_of(graph, request);
    if (auto done = find(key)) return done;
    const std::lock_guard turn(turn_);
    if (auto done = find(key)) return done;  // by the thread that had the turn before
    auto tuning = std::make_shared<const Tuning>(tune_now(context, graph, request));
    if (tuning->passing) return tuning;
    const std::lock_guard lock(mutex_);
    return done_[key] = std::move(tuning);
}

}  // namespace gnntune::library
