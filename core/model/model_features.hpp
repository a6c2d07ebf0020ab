// The numbers that a cost model sees of a problem and of a config. Logarithms to base 2, so that a tree's thresholds
// lie evenly over sizes that span decades.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/roofline.hpp"
#include "core/registry/registry.hpp"

namespace gnntune::model {

/// Raised when a feature is added, removed or computed otherwise, or when models ask it in another way. A model that was
/// fitted before is not used.
inline constexpr std::int32_t kFeatureVersion = 10;

constexpr bool is_readable(std::int32_t feature_version) {
    return feature_version == kFeatureVersion;
}

/// Names of problem_features(), in its order.
const std::vector<std::string>& problem_feature_names();

/// Features of a problem on a graph and a device. `query.features` and `query.device` must be there. For a reversed
/// problem degrees are those of the columns; windows and locality remain the caller's graph's.
std::vector<float> problem_features(const Query& query, const DeviceConstants& constants);

/// Bytes of the widest load.
inline constexpr double kGatherBytes = 16;

/// The measured copy rate in GB/s, or a nominal one.
double copy_gbps(const DeviceConstants& constants, Backend backend);

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

/// Features of a config (ConfigFeatures) per param, and before and behind them.
inline constexpr std::int32_t kFeaturesPerParam = 3;
inline constexpr std::int32_t kCostFeatures = 7;
inline constexpr std::int32_t kRoundFeatures = 2;

inline std::int32_t config_width(const ParamCodes& codes) {
    return kCostFeatures + kFeaturesPerParam * static_cast<std::int32_t>(codes.params.size()) + kRoundFeatures + 1;
}

/// The name of the last feature of a config.
inline constexpr const char* kRoughGap = "rough_gap";

/// Names of a config's features, in their order.
std::vector<std::string> config_feature_names(const ParamCodes& codes);

/// A number for each of the params, the same on every graph: the code of a word, or the logarithm of a number. A param
/// that is missing or has an unknown word counts as 0.
std::vector<float> coded_params(const Params& params, const ParamCodes& codes);

/// Features of the configs of one problem.
class ConfigFeatures {
public:
    /// `base_log_us` is that of the query, which has features and a device.
    ConfigFeatures(const Query& query, double base_log_us);

    /// Writes config_width(codes) features of a config to out[0], out[stride], ...: its cost terms relative to the
    /// problem's work; for each param its value, the value over k and the value over the mean degree; and the rounds of
    /// its busiest thread over what a multiprocessor has to gather, and over the roofline's time: whether one long row
    /// decides or all the others; and the gap of a rough estimate. `terms` are PlainTerms, `coded` is
    /// coded_params(params, codes).
    void write(const CostTerms& terms, const ParamCodes& codes, const std::vector<float>& coded, float gap, float* out,
               std::size_t stride = 1) const;

private:
    double gathered_;  // bytes of the gathered rows
    float k_;
    float degree_;
    float work_;      // gathers of 16 bytes for each multiprocessor
    float roofline_;  // us
};

}  // namespace gnntune::model
