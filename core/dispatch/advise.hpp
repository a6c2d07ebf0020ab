// What to run where nothing was measured: a cost model's favourite or the default. The rule, written once: the library
// follows it, `explain` prints it, `eval` scores it. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/model/model.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

/// The default is left for a config where it is expected to cost this share more than that. Two runs differ by as much:
/// less is no gain. docs/tuning.md has what other values win and lose.
inline constexpr double kLeastGain = 0.02;

/// Configs that may be chosen unmeasured, ready to be asked about on any graph. Immutable.
class Prospects {
public:
    /// Exact configs that the problem of `query` has on some graph, whatever the graph of `query`: valid() of the
    /// variant tells whether one may run on yours. Takes as long as enumerating every space, so make it once a problem.
    Prospects(const model::Model& model, const Registry& registry, const Query& query);
    /// Those of `configs` whose variant the registry has and whose result is exact.
    Prospects(const model::Model& model, const Registry& registry, const std::vector<Config>& configs);

    const std::vector<Candidate>& candidates() const { return candidates_; }
    const model::CodedConfigs& coded() const { return coded_; }

private:
    Prospects(const model::Model& model, const Registry& registry, std::vector<Candidate> candidates);

    std::vector<Candidate> candidates_;
    model::CodedConfigs coded_;  // in the same order
};

/// What a model expects of a config.
struct Expected {
    std::size_t candidate = 0;  ///< index into Prospects::candidates()
    double us = 0;              ///< time of one run
    double sigma = 0;           ///< standard deviation of its natural logarithm
    double build_us = 0;        ///< what it still needs built, as far as it is known
};

struct Advice {
    std::optional<Config> standard;             ///< the default under the constraints; none if every variant refuses
    std::optional<Expected> expected_standard;  ///< none if the model does not know it
    /// To be tried before the default, cheapest first; before giving up, if there is no default.
    std::vector<Expected> better;
    std::size_t asked = 0;            ///< configs that the model knows, of those that a search would try
    std::vector<Rejection> rejected;  ///< those of them that the constraints refuse; indices as in Expected
    std::string reason;               ///< one sentence for people
};

/// Us that building what a config needs still takes on the graph at hand.
using BuildCost = std::function<double(const Config&)>;

/// Cheapest by expected cost over the expected calls, of what a search of this graph would try, if that is worth leaving
/// the default for. `query` has features and a device. Without `build` building counts nothing. A dispatcher keeps to
/// kLeastGain; others are to be compared.
Advice advise(const model::Model& model, const Prospects& prospects, const Registry& registry, const Query& query,
              const DeviceConstants& constants, const Constraints& constraints, const BuildCost& build = {},
              double least_gain = kLeastGain);

/// The default where nothing is known: exact, because the error of others on this graph was not measured. Throws as
/// Registry::default_config.
Config exact_default(const Registry& registry, const Query& query, const Constraints& constraints);

}  // namespace gnntune
