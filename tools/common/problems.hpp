// The options that say which problems, under which clock and policy: shared by tune, bench, verify and explain.
#pragma once

#include <string>
#include <vector>

#include "core/registry/measurement.hpp"
#include "core/registry/registry.hpp"
#include "tools/common/options.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

/// Adds the group "Problems": --op, --dim, --weights, --direction. `dims` is the default of --dim.
void add_problem_options(Options& options, const std::string& dims);
/// Every combination of what was asked for, in the order op, direction, weights, dim.
std::vector<Problem> problems(const Parsed& parsed);
/// The same with these ops, whatever --op says.
std::vector<Problem> problems(const Parsed& parsed, const std::vector<Op>& ops);
/// The options that ask for the same problems again, such as "--op gat --dim 64 --heads 8".
std::string problem_options(const Parsed& parsed);

/// Ids of --variant that `problems` on `device` have a use for; empty: all variants. Says on stderr which are left out:
/// those of other ops, of the other backend, and unless `sampling` those that drop edges. Throws
/// ErrorKind::invalid_argument for one that this build does not have, unsupported if all are left out.
std::vector<std::string> named_variants(const Parsed& parsed, const std::vector<Problem>& problems,
                                        const Device& device, bool sampling, Output& out);

/// Adds the group "Timing": --policy, --clock.
void add_timing_options(Options& options);
std::vector<Policy> policies(const Parsed& parsed);
/// The one of a verb that takes one. Throws ErrorKind::invalid_argument for several.
Policy one_policy(const Parsed& parsed);
/// Those that can be timed on `device`. Throws ErrorKind::invalid_argument for graph on a CPU.
std::vector<Policy> policies(const Parsed& parsed, const Device& device);
/// "policy cold, clock span": the one policy, and the clock if one was named.
std::string timing_text(const Parsed& parsed);
/// Clocks of --clock that the device has; says on stderr which could not be had. "auto" is the best one.
std::vector<Clock> clocks(const Parsed& parsed, const Device& device, Output& out);

/// Adds the group "Choosing": --deterministic, --expected-calls, --max-error, --allow-sampling, --workspace-limit.
void add_constraint_options(Options& options);
Constraints constraints(const Parsed& parsed);

/// The word that a person knows a baseline by: the id without its op, "cusparse".
std::string short_problem(const Problem& problem);

}  // namespace gnntune::tools
