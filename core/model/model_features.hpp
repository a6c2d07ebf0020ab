// The numbers that a cost model sees of a problem and of a config. Logarithms to base 2, so that a tree's thresholds
// lie evenly over sizes that span decades.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/roofline.hpp"
#include "core/registry/registry.hpp"

namespace gnntune::model {

/// Raised when a feature is added, removed or computed otherwise: a model fitted on other features is not used.
inline constexpr std::int32_t kFeatureVersion = 1;

/// Names of problem_features(), in its order.
const std::vector<std::string>& problem_feature_names();

/// Features of a problem on a graph and a device. `query.features` and `query.device` must be there. For a reversed
/// problem degrees are those of the columns; windows and locality remain the caller's graph's.
std::vector<float> problem_features(const Query& query, const DeviceConstants& constants);

/// Natural logarithm of the time in us that the roofline allows, at least that of a launch: times are predicted
/// relative to it. Nominal rates stand in for constants that are not there.
double base_log_us(const Query& query, const DeviceConstants& constants);

/// How the params of a variant become numbers: those seen in training, with their values where they are words.
struct ParamCodes {
    struct Param {
        std::string name;
        std::vector<std::string> words;  ///< of a param whose values are not all numbers: its index here is its code

        bool operator==(const Param&) const = default;
    };
    std::vector<Param> params;

    bool operator==(const ParamCodes&) const = default;
};

/// Features that config_features() gives per param, and beside them.
inline constexpr std::int32_t kFeaturesPerParam = 3;
inline constexpr std::int32_t kCostFeatures = 5;

inline std::int32_t config_width(const ParamCodes& codes) {
    return kCostFeatures + kFeaturesPerParam * static_cast<std::int32_t>(codes.params.size());
}

/// Names of a config's features, in their order.
std::vector<std::string> config_feature_names(const ParamCodes& codes);

/// Appends config_width() features of one config: its cost terms relative to the problem's work, and for each param its
/// value, the value over k and the value over the mean degree. A param that is missing or has an unknown word counts as
/// 0.
void append_config_features(const Query& query, const Variant& variant, const Params& params, const ParamCodes& codes,
                            std::vector<float>& out);

}  // namespace gnntune::model
