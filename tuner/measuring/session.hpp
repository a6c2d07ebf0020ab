// The loop of measuring, the one that `gnntune tune` and tune_on_miss share: configs of a problem under one policy and
// clock, group after group, as a search proposes them or as they are named.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "tuner/measuring/measure.hpp"
#include "tuner/measuring/search.hpp"

namespace gnntune::tuner {

/// What happens while configs are measured. `formats_us` has to be there, the others are optional.
struct SessionEvents {
    /// What building the formats of a measured config costs, to be counted with it: Measurement::prepare_us then has all.
    std::function<double(const Config&)> formats_us;
    /// A group is about to be measured; how may still be changed.
    std::function<void(const std::vector<Contender>&, MeasureOptions&)> group_begins;
    std::function<void(const Measurement&, double best_us)> measured;
    std::function<bool()> stop;  ///< as MeasureHooks
    std::function<bool()> quit;
};

class Session {
public:
    /// `contenders` are those of the search, if one is followed, and in its order. The arguments outlive the session.
    Session(ProblemWorkload& workload, Stopwatch& stopwatch, Policy policy, const MeasureOptions& options,
            const Constraints& constraints, std::vector<Contender> contenders, SessionEvents events);

    /// New times are judged by these too, as if they had been taken here.
    void remember(const std::vector<Candidate>& candidates);
    /// Measures contenders, in turns. False if it was stopped before the last one.
    bool measure(const std::vector<std::size_t>& numbers);
    /// Measures what the search proposes until it proposes nothing. False if it was stopped before. What is measured
    /// later is told to the search too.
    bool follow(Search& search);

    /// Contenders that have a measurement of this session.
    const std::set<std::size_t>& taken() const { return taken_; }
    /// The place of a config among the contenders; their number if it is none.
    std::size_t number_of(const Config& config) const;

private:
    void finished(Measurement measurement);

    ProblemWorkload& workload_;
    Stopwatch& stopwatch_;
    Policy policy_;
    MeasureOptions options_;
    const Constraints& constraints_;
    std::vector<Contender> contenders_;
    std::map<std::string, std::size_t> numbers_;  // of their texts
    SessionEvents events_;
    Frontier frontier_;
    Search* search_ = nullptr;
    std::set<std::size_t> taken_;
};

/// What a measurement means to a search whose config it is; its prepare_us has the formats in it.
void tell(Search& search, std::size_t config, const Registry& registry, const Query& query,
          const Measurement& measurement, const Constraints& constraints);

}  // namespace gnntune::tuner
