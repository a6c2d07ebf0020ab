// A fitted cost model of one op on one backend: predicts the time of configs on graphs where nothing was measured.
// Evaluated from plain arrays; tuner/fit.hpp makes it, profiles/ keeps its bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model_features.hpp"
#include "core/model/trees.hpp"

namespace gnntune::model {

/// What one variant's configs cost, relative to the fastest config of the problem.
struct VariantModel {
    std::string id;
    std::int32_t version = 1;  ///< of the variant whose times it learnt; another version is not predicted
    ParamCodes codes;
    std::vector<Forest> slowdown;  ///< members, averaged: natural logarithm of the time over the problem's best
    float spread = 0;              ///< standard deviation of what it predicted for graphs that it had not seen

    bool operator==(const VariantModel&) const = default;
};

struct Model {
    Op op = Op::spmm;
    Backend backend = Backend::cuda;
    std::int32_t feature_version = kFeatureVersion;
    std::vector<Forest> level;  ///< members, averaged: natural logarithm of the problem's best time over its roofline
    float level_spread = 0;
    std::vector<VariantModel> variants;

    const VariantModel* find(std::string_view id, std::int32_t version) const;
    bool operator==(const Model&) const = default;
};

/// Of one config. Natural logarithms of us.
struct Prediction {
    std::size_t config = 0;            ///< index into the list that was asked for
    const Variant* variant = nullptr;  ///< of the config, in the registry
    double log_us = 0;
    double slowdown = 0;  ///< part of log_us above the best config of the problem: ranks configs
    double sigma = 0;     ///< standard deviation of `slowdown`: of its members, and of what was seen on new graphs
};

/// Configs as a model sees them, but for what depends on the graph: made once, asked about on any graph. Those whose
/// variant and version the model does not know are kept, and not predicted. Immutable.
class CodedConfigs {
public:
    /// The registry must outlive it.
    CodedConfigs(const Model& model, const Registry& registry, std::vector<Config> configs);

    const std::vector<Config>& configs() const { return configs_; }

private:
    friend std::vector<Prediction> predict(const Model&, const CodedConfigs&, const Query&, const DeviceConstants&);

    struct Known {
        std::size_t config = 0;
        std::vector<float> coded;
    };
    struct Group {  // configs of a variant that the trees are asked about together
        const Variant* variant = nullptr;
        std::size_t model = 0;  // index into Model::variants
        std::vector<Known> known;
    };

    std::vector<Config> configs_;
    std::vector<Group> groups_;
};

/// Whether models rank configs of such a problem: sums and means in f32.
bool ranks(const Problem& problem);

/// Predictions for those configs that the model knows, fastest first; equal ones in the order of the list; none for a
/// problem that models do not rank. `configs` were coded for this model. `query` has features and a device. Thread-safe.
std::vector<Prediction> predict(const Model& model, const CodedConfigs& configs, const Query& query,
                                const DeviceConstants& constants);
/// The same for configs that are asked about once.
std::vector<Prediction> predict(const Model& model, const Registry& registry, const Query& query,
                                const DeviceConstants& constants, const std::vector<Config>& configs);

/// The model as bytes, the same on every machine, and back. from_bytes() throws ErrorKind::input in words on bytes that
/// are cut short, damaged, of another format version or of another feature version.
std::string to_bytes(const Model& model);
Model from_bytes(std::string_view bytes);
/// Whether bytes begin as those of a model, of this version or another, and their checksum does not fit.
bool are_damaged(std::string_view bytes);

}  // namespace gnntune::model
