// What `explain` says about other demands: other numbers of calls, other errors.
#pragma once

#include <string>
#include <vector>

#include "core/dispatch/objectives.hpp"
#include "tools/common/lines.hpp"

namespace gnntune::tools {

/// The choice among candidates under constraints, seen from the side.
class Objectives {
public:
    Objectives(const std::vector<Candidate>& candidates, const Constraints& constraints, const Decision& decision);

    /// Lines and small tables for people: break-even of the winner and the runner-up, the cheapest by number of calls,
    /// the fastest by error. The tables only where they have more than one row.
    Lines text(bool color) const;

    // About one config of the candidates; nothing for another.

    /// Calls from which the winner has cost less than it; nothing if never, or for the winner itself.
    Cell break_even_calls(const Config& config) const;
    /// Calls from which it is the cheapest of all; nothing if never.
    Cell cheapest_from_calls(const Config& config) const;
    /// Smallest error under which it is chosen; nothing if under none.
    Cell chosen_from_error(const Config& config) const;

private:
    const Candidate* find(const Config& config) const;

    const std::vector<Candidate>& candidates_;
    const Constraints& constraints_;
    const Decision& decision_;
    std::vector<CallsRange> ranges_;
    std::vector<ErrorPoint> front_;
};

}  // namespace gnntune::tools
