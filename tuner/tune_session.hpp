// One graph on its way through a tuning: what could be measured for a problem of it, and the steps of measuring it. The
// graph is asked once; everything else goes by the answer (Query::with).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/measuring/session.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tuner {

class TuneSession {
public:
    /// The arguments outlive the session. `measured` counts what was measured by all sessions of a Tuner.
    TuneSession(const Registry& registry, const Device& device, store::Store& store, GraphWorkload& graph,
                const GraphRecord& record, const TuneOptions& options, std::size_t& measured);

    /// As those of Tuner. What plan() found out about a problem, tune() goes on with.
    std::vector<TuneStep> plan();
    bool tune(std::int64_t run, const TuneEvents& events);

private:
    /// Everything that could be measured for a problem.
    struct Space {
        Query query;
        std::vector<Contender> contenders;  ///< the default first, then baselines, then the rest in registry order
        std::size_t first = 0;              ///< so many of them a search has measured in any case
        std::vector<std::pair<const Variant*, std::string>> refusals;
        double estimate_us = 0;  ///< of one call of each
        std::size_t errata = 0;  ///< configs left out because of them
        std::string no_default;  ///< why no exact variant can do the problem; empty if one can
        bool of_rows = false;    ///< there is a composition in it: what that is offered, rows of other problems say
        /// Of a policy and clock: contenders that were fast in an environment much like this one, best first, the default
        /// before them.
        std::map<std::pair<Policy, Clock>, std::vector<std::size_t>> recalled;
    };
    /// A problem, policy and clock, with what the store has of it.
    struct Step {
        TuneStep told;
        const Space& space;
        std::optional<store::Key> key;             ///< nothing: the store does not know the graph, device or problem
        const std::vector<std::size_t>& recalled;  ///< of the space
        store::AttemptSet done;                    ///< empty where all is measured again
        std::optional<Search> search;              ///< that knows what the store has; nothing: everything is measured
    };

    // tune_space.cpp
    Space space_of(const Problem& problem) const;
    Space space_of_variants(const Query& query) const;
    Space space_of_named(const Query& query) const;
    std::vector<Params> offered(const Variant& variant, const Query& query) const;
    std::vector<std::size_t> recalled_of(const Space& space, Policy policy, Clock clock) const;

    // tune_formats.cpp
    bool measure_format_builds(const std::function<bool()>& stop);
    void measure_format_builds(const Problem& problem, const std::vector<Contender>& contenders);
    void measure_format_build(const FormatBuild& build, const std::vector<std::string_view>& set);
    void cover_formats(const Query& query, std::vector<Contender>& first, std::vector<Contender>& rest) const;

    // tune_session.cpp
    Space taken_space(std::size_t problem);
    Step step_of(const Space& space, Policy policy, Clock clock, const std::optional<store::Key>& key) const;
    Search search_of(const Step& step) const;
    std::size_t open_of(const Step& step) const;
    bool is_done(const Step& step, const Config& config) const;
    std::vector<Candidate> stored(const Step& step, const store::MeasurementFilter& filter,
                                  const std::optional<Choice>& before = {}) const;
    bool tune_problem(const Space& space);
    void note_refusals(const Step& step);
    void decide(const Step& step);
    bool measure(Step& step, ProblemWorkload& workload);
    bool measure_searched(const Step& step, Search& search, Session& session);
    bool measure_all(const Step& step, Session& session);
    std::vector<std::size_t> stale(const Step& step, const Session& session) const;

    const Registry& registry_;
    const Device& device_;
    store::Store& store_;
    GraphWorkload& graph_;
    const GraphRecord& record_;
    const TuneOptions& options_;
    std::size_t& measured_;
    Query query_;                                ///< of no problem yet
    std::vector<std::optional<Space>> planned_;  ///< of problems, by plan(), until tune() takes them
    // Of the store; nothing while it does not know the graph or the device.
    std::optional<std::int64_t> graph_id_;
    std::optional<std::int64_t> environment_id_;
    // Of tune().
    std::int64_t run_ = 0;
    const TuneEvents* events_ = nullptr;
};

}  // namespace gnntune::tuner
