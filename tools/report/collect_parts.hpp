// The parts of a report that stand for themselves. Inside this folder only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/registry/device.hpp"
#include "tools/report/collect.hpp"

namespace gnntune::tools::report {

Answer answer_of(const Measurement& m, const Variant* variant);
/// `variant`: null where this build does not have it.
bool is_library(const std::string& id, const Variant* variant);

/// Whether its times can be drawn and compared: rows that people or accidents have changed may say infinity.
bool has_times(const Measurement& m);

/// The rows without such times.
class Timeless {
public:
    /// Whether `m` is one of them: it is counted then.
    bool takes(const Measurement& m, const std::string& graph);
    /// Says of how many there are, if there are any.
    void say(Report& report) const;

private:
    std::int64_t count_ = 0;
    std::string first_;
};

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
