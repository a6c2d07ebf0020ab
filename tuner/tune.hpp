// Tuning: configs of the applicable variants, all or those that a search finds promising, checked, timed and stored,
// then a choice per problem.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/candidates.hpp"
#include "core/dispatch/choose.hpp"
#include "core/model/model.hpp"
#include "profiles/store/store.hpp"
#include "tuner/measuring/measure.hpp"
#include "tuner/measuring/search.hpp"

namespace gnntune::tuner {

struct TuneOptions {
    std::vector<Problem> problems;
    std::vector<Policy> policies{Policy::hot};
    std::vector<Clock> clocks;  ///< empty: every clock the device has
    Constraints constraints;    ///< of the stored choice; other constraints are answered later from the same rows
    /// Take measurements that the store has already once more: the newest counts. No new time is judged by a stored
    /// one, and a search also takes those of which a stored time would decide the choice.
    bool again = false;
    /// These variants only; empty: every one, sampling ones if the constraints allow them. Parts of compositions are
    /// not held to it.
    std::vector<std::string> variants;
    /// Nothing but these configs, never given up early; no choice is stored then. Empty: the whole space.
    std::vector<Config> configs;
    bool exhaustive = false;  ///< every config; else a Search says which
    /// Most configs of a search for one problem, policy and clock, those that the store has among them and what ratios
    /// need beside them. 0: as many as it finds worth it.
    std::size_t max_configs = 0;
    /// The cost model that a search asks about a problem; null, or no function: it goes without.
    std::function<const model::Model*(const Problem&, Policy, Clock)> model;
    /// A search measures a config of every set of formats that some variant needs, so that there is one for every limit
    /// of their memory.
    bool every_format = false;
    /// The time is limited: the first config of all is measured however late it is, so that there is a choice, and what
    /// formats cost only as far as configs need them, the rest at the end.
    bool limited = false;
    std::uint64_t seed = 1;
    MeasureOptions measuring;
    std::size_t group = 24;  ///< configs that are interleaved when all are measured: what a kill can lose at most
};

/// A problem, policy and clock of the work to do.
struct TuneStep {
    Problem problem;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
    std::size_t configs = 0;  ///< in the whole space
    std::size_t open = 0;     ///< not measured yet; of a search, about how many it will measure
    std::size_t errata = 0;   ///< configs left out because they must not run
    double estimate_s = 0;    ///< a guess from the roofline terms, for plans and progress
    bool stopped = false;     ///< where it ends: before all of it was measured
};

struct TuneEvents {
    /// No variant can do it. Without this function the only problem of a call throws ErrorKind::unsupported.
    std::function<void(const Problem&, const std::string& why)> problem_refused;
    /// Memory ran out while it was prepared or measured, and the next one goes on. Without this function that is
    /// thrown.
    std::function<void(const Problem&, const std::string& why)> memory_ran_out;
    std::function<void(const TuneStep&)> step_begins;
    std::function<void(const Measurement&, double best_us)> measured;
    /// Also of a step that was stopped: whatever was measured is chosen from. `before` is what was stored as chosen
    /// until then.
    std::function<void(const TuneStep&, const Decision&, const std::vector<Candidate>&,
                       const std::optional<Choice>& before)>
        step_ends;
    std::function<bool()> stop;  ///< asked while there is something to measure
    std::function<bool()> quit;  ///< asked before every problem, also where nothing is left to measure
};

class TuneSession;  // tuner/tune_session.hpp

class Tuner {
public:
    Tuner(const Registry& registry, const Device& device, store::Store& store)
        : registry_(registry), device_(device), store_(store) {}

    /// A graph's way through both of these. It holds on to all of its arguments, and to this.
    TuneSession session(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options);

    /// What tune() would do for a graph. Runs nothing on the device but the counting of features.
    std::vector<TuneStep> plan(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options);

    /// Measures what is not in the store yet, one transaction per measurement, and stores a choice for each problem,
    /// policy and clock, also for one that was stopped. Returns false if events.stop or events.quit ended it early: the
    /// same call goes on where it stopped.
    bool tune(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options, std::int64_t run,
              const TuneEvents& events);

private:
    const Registry& registry_;
    Device device_;
    store::Store& store_;
    std::size_t measured_ = 0;  // by all calls
};

}  // namespace gnntune::tuner
