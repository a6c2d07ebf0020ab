// The parts of a report that stand for themselves. Inside this folder only.
#pragma once

#include <map>
#include <vector>

#include "core/registry/device.hpp"
#include "tools/report/collect.hpp"

namespace gnntune::tools::report {

/// Choices for whole training steps on the report's graphs; what they would cost otherwise as far as this build has the
/// variants. `devices` by the ids of environments.
std::vector<StepFacts> steps_of(const store::Store& store, const Registry& registry, const Report& report,
                                const std::map<std::int64_t, Device>& devices);

/// What stands in the database, without the bytes.
std::vector<store::ModelRow> fitted_models(const store::Store& store);

/// Fits models without the graphs that they are asked about, one for each op, backend, policy and clock of the report.
std::vector<ModelFacts> judged_models(const store::Store& store, const Registry& registry, const Report& report,
                                      int folds, const CollectOptions& options);

/// Fills Report::missing.
void say_what_is_missing(Report& report, int folds);

}  // namespace gnntune::tools::report
