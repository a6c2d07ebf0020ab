// The choosing rule for several calls that run on one graph: they share formats, which are built and held once. `tune
// --step` stores its answer, `explain --step` prints it.
//
// Cost over N steps = building the union of all formats once + each plan's own preparation + for every call its time x
// how often it runs. Allowed is what obeys the constraints, call by call, and holds no more memory than the limit: the
// union of the formats and the largest workspace at once. Totals within the noise are tied; among tied ones the choice
// with fewer calls that do not repeat, then fewer bytes of formats, then less workspace, then the lower cost wins.
//
// Exact: branch and bound over sets of formats. With the set given, calls do not depend on each other. Pure functions
// of their arguments; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/dispatch/shared_formats.hpp"

namespace gnntune {

/// A measured config for a call, and the formats that it needs with all they are made from.
struct CallOption {
    Candidate candidate;  ///< its build_us is the plan's own preparation, formats left out
    FormatMask formats = 0;
};

/// One problem of the step with what was measured for it.
struct CallOptions {
    std::string name;  ///< for sentences
    int runs_per_step = 1;
    int runs_per_graph = 0;  ///< beside these, once before the first step
    std::vector<CallOption> options;
    std::size_t errata = 0;  ///< measured configs that are no option, because they must not run
    std::string erratum{};   ///< why the first of them must not, in words

    double runs(double steps) const { return runs_per_graph + steps * runs_per_step; }
};

struct StepLimits {
    /// Of every call; expected_calls counts steps.
    Constraints constraints;
    std::size_t format_bytes = SIZE_MAX;  ///< most memory of formats and the largest workspace together
};

/// What one choice for all calls costs. Microseconds and bytes.
struct StepCost {
    FormatMask formats = 0;  ///< the union
    double format_us = 0;    ///< building them, once
    double own_us = 0;       ///< the plans' own preparation
    double once_us = 0;      ///< runs before the first step
    double step_us = 0;      ///< the calls of one step
    double total_us = 0;     ///< all of it over the expected steps
    std::int64_t format_bytes = 0;
    std::int64_t workspace_bytes = 0;  ///< the largest
    bool fits = true;                  ///< into the limit of memory
};

/// An option of each call.
using Picks = std::vector<std::size_t>;

struct StepDecision {
    std::optional<Picks> picks;  ///< nothing if no choice is allowed
    StepCost cost;
    std::string reason;  ///< one sentence for people
};

StepDecision choose_step(const SharedFormats& formats, const std::vector<CallOptions>& calls, const StepLimits& limits);

StepCost step_cost(const SharedFormats& formats, const std::vector<CallOptions>& calls, const Picks& picks,
                   const StepLimits& limits);

/// Each call by choose() alone, as if it had the graph for itself: it pays for all of its formats and no limit of
/// memory holds. Nothing if a call has no option that may be chosen.
std::optional<Picks> choose_apart(const SharedFormats& formats, const std::vector<CallOptions>& calls,
                                  const StepLimits& limits);

}  // namespace gnntune
