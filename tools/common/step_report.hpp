// What was chosen for the calls of a training step together, beside what would have been chosen otherwise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/common/output.hpp"
#include "tuner/step_options.hpp"

namespace gnntune::tools {

/// What the report is about.
struct StepSubject {
    std::string graph;
    Step step;
    Policy policy = Policy::hot;
    Clock clock = Clock::events;
};

class StepReport {
public:
    /// Decides. `otherwise` is decided too: each call alone, defaults, a library's configs where it has any.
    StepReport(const Registry& registry, StepSubject subject, tuner::StepOptions from, const StepLimits& limits,
               const tuner::QueryOf& query_of);

    const StepDecision& decision() const { return decision_; }
    /// What the store keeps; of a decision that has picks.
    store::StepChoice stored(const Registry& registry) const;

    /// Columns of add_rows(): a row for each call.
    static Table table();
    void add_rows(Table& table) const;
    /// For people: the calls, then what each way of choosing costs.
    Lines text(bool color) const;
    Json json() const;

private:
    struct Way {
        std::string name;  ///< "together"
        std::string about;
        Picks picks;
        StepCost cost;
    };
    /// A call with what was chosen for it.
    struct Line {
        const StepCall& call;
        const CallOption& option;
        bool shared = false;               ///< another call needs one of its formats too
        const Candidate* apart = nullptr;  ///< what it would have alone
    };
    std::vector<Line> lines() const;
    void add_way(std::string name, std::string about, const std::optional<Picks>& picks);
    Table calls_table() const;
    Table ways_table() const;

    StepSubject subject_;
    tuner::StepOptions from_;
    StepLimits limits_;
    StepDecision decision_;
    std::vector<Way> ways_;       ///< what was decided first; empty if nothing could be
    std::string why_no_library_;  ///< among them; empty where it is
};

/// Warns with `words` that a report has no choice, and why, unless the report itself stands on the same terminal.
void warn_unchosen(const StepReport& report, const std::string& words, Output& out);

/// The reports of one call of the program: one, or several graphs, policies and clocks.
class StepReports {
public:
    void add(const StepReport& report, const Output& out);
    void append(const StepReports& other);
    /// All of them: text, a row for each call, or an array.
    void print(Output& out) const;

private:
    Table rows_ = StepReport::table();
    Json json_ = Json::array();
    Lines text_;
};

}  // namespace gnntune::tools
