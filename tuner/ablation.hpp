// Which features pay: evaluations of models that do not see some of them.
#pragma once

#include <string>
#include <vector>

#include "tuner/evaluate.hpp"

namespace gnntune::tuner {

/// Features that say much the same.
struct FeatureGroup {
    std::string name;
    std::vector<std::string> features;  ///< names as core/model/model_features.hpp has them
};

/// Every feature of a problem and of the cost terms is in one group. Params are in none; what is derived from them
/// (their ratio to k and to the mean degree) is, for the params of the configs in `problems`.
std::vector<FeatureGroup> feature_groups(const std::vector<TrainingProblem>& problems);

struct Ablation {
    FeatureGroup left_out;  ///< the first has no features: the model as it is
    Evaluation evaluation;
};

/// evaluate() once with every feature and once without each group, model strategies only.
std::vector<Ablation> ablation(const std::vector<TrainingProblem>& learn, const std::vector<TrainingProblem>& decide,
                               const std::vector<TrainingProblem>& score, const Registry& registry,
                               const EvaluateOptions& options = {});

}  // namespace gnntune::tuner
