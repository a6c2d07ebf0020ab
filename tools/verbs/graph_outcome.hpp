// What came of the graphs of one `tune`, and when each has had its share of the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tools/common/step_report.hpp"
#include "tools/verbs/tune_tables.hpp"

namespace gnntune::tools {

/// Of one graph, made anew where it is taken up again; or the sum over several.
struct GraphOutcome {
    Table rows = result_table();
    StepReports steps;
    std::size_t tuned = 0;           ///< problems that have a config that may be chosen, now or from before
    std::size_t wrong = 0;           ///< problems that nothing computes right
    std::size_t lost = 0;            ///< problems that memory did not hold
    std::size_t untimed = 0;         ///< problems of which other programs let nothing be timed
    std::size_t unfit = 0;           ///< graphs without edges
    std::size_t unread = 0;          ///< graphs, among several
    std::int64_t left_problems = 0;  ///< of which nothing was measured when it was stopped
    std::int64_t left_graphs = 0;    ///< that were never begun

    void add(const GraphOutcome& other);
    /// A problem of it, or all of it, was not come to.
    void leave_out(const std::string& graph, const tuner::TuneStep& step, const std::string& why);
    void leave_out(const std::string& graph, const std::string& why);
};

/// A limited time goes to several graphs in equal shares: what one does not need, those behind it have. Who has had a
/// share and is not done goes on when all have had theirs, while there is time.
class TimeShares {
public:
    explicit TimeShares(double budget_s) : budget_s_(budget_s), end_s_(budget_s) {}

    bool share_is_over(double elapsed_s) const { return elapsed_s > end_s_; }
    bool all_is_over(double elapsed_s) const { return elapsed_s > budget_s_; }

    struct Hooks {
        std::function<bool(std::size_t graph)> work;  ///< false: something is left
        std::function<bool()> quit;                   ///< nothing more begins
        std::function<double()> elapsed_s;
        std::function<std::int64_t()> done;  ///< of anything: a round that adds nothing is the last
    };
    /// The graphs, from 0, of which something is left.
    std::vector<std::size_t> run(std::size_t graphs, const Hooks& hooks);

private:
    double budget_s_;
    double end_s_;
};

/// How much there is to measure, in all.
class ExpectedWork {
public:
    explicit ExpectedWork(std::size_t graphs = 0) : open_(graphs) {}
    void read(std::size_t graph, std::int64_t configs) { open_[graph] = configs; }
    bool was_read(std::size_t graph) const { return open_[graph].has_value(); }
    /// Configs of the graphs that were not read yet: as many for each as those had that were.
    std::int64_t of_others() const;

private:
    std::vector<std::optional<std::int64_t>> open_;
};

}  // namespace gnntune::tools
