// A fitted cost model of one op on one backend: predicts the time of configs on graphs where nothing was measured.
// Evaluated from plain arrays; tuner/fit.hpp makes it, profiles/ keeps its bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model_features.hpp"
#include "core/model/rough_time.hpp"
#include "core/model/trees.hpp"

namespace gnntune::model {

/// What one variant's configs cost, relative to the fastest config of the problem.
struct VariantModel {
    std::string id;
    std::int32_t version = 1;  ///< of the variant whose times it learnt; another version is not predicted
    ParamCodes codes;
    std::vector<Forest> slowdown;  ///< members, averaged: natural logarithm of the time over the problem's best, but
                                   ///< for a share of the rough gap
    float spread = 0;              ///< standard deviation of what it predicted for graphs that its trees had not seen
    std::vector<float> rates{};    ///< of the rough estimate (core/model/rough_time.hpp), kRoughTerms of them or none

    bool operator==(const VariantModel&) const = default;
};

/// Kinds of problems that a model has learnt from, as far as one does not stand for another: storage in 32 or in 16 bits,
/// sums and means or maxima, and of a gradient whether it is one of weights too. Reversed, mean and self-loop problems,
/// and unweighted ones of other ops, have the ranks of the plain ones (docs/tuning.md): a model that has not seen them
/// has no question about them.
struct Kinds {
    bool f32 = true;
    bool narrow = false;  ///< f16 or bf16
    bool sums = true;     ///< means among them
    bool maxima = false;
    bool weighted = true;
    bool unweighted = true;

    static Kinds none() { return {false, false, false, false, false, false}; }
    bool operator==(const Kinds&) const = default;
};

struct Model {
    Op op = Op::spmm;
    Backend backend = Backend::cuda;
    std::int32_t feature_version = kFeatureVersion;
    Kinds kinds;                ///< by default those of a model that was fitted before others were
    std::vector<Forest> level;  ///< members, averaged: natural logarithm of the problem's best time over its roofline
    float level_spread = 0;
    std::vector<VariantModel> variants;

    const VariantModel* find(std::string_view id, std::int32_t version) const;
    /// Whether it ranks configs of such a problem: kinds of its op that it has learnt from.
    bool ranks(const Problem& problem) const { return !unknown_kind(problem); }
    /// What it has not learnt from, where it ranks none: "storage in 16 bits", "maxima", ...
    std::optional<std::string> unknown_kind(const Problem& problem) const;
    bool operator==(const Model&) const = default;
};

/// A library's routine is expected to take this share longer than its trees say. What a library does its cost terms do not
/// tell, so trees are all that is known of it, and where they put it first they are mostly wrong (docs/tuning.md).
inline constexpr double kLibraryMargin = 0.05;

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

    const Registry* registry_;
    std::vector<Config> configs_;
    std::vector<Group> groups_;
};

/// Predictions for those configs that the model knows, fastest first; equal ones in the order of the list; none for a
/// problem that it does not rank. `configs` were coded for this model. `query` has features and a device. Thread-safe.
std::vector<Prediction> predict(const Model& model, const CodedConfigs& configs, const Query& query,
                                const DeviceConstants& constants);
/// The same for configs that are asked about once.
std::vector<Prediction> predict(const Model& model, const Registry& registry, const Query& query,
                                const DeviceConstants& constants, const std::vector<Config>& configs);

/// The model's variants that have rates and are those of the registry.
std::vector<Rated> rated_of(const Model& model, const Registry& registry);

/// The model as bytes, the same on every machine, and back. from_bytes() throws ErrorKind::input in words on bytes that
/// are cut short, damaged, of a format version or of a feature version that is not read. A model of an older version
/// that is read becomes one of this version.
std::string to_bytes(const Model& model);
Model from_bytes(std::string_view bytes);
/// Whether bytes begin as those of a model, of this version or another, and their checksum does not fit.
bool are_damaged(std::string_view bytes);

}  // namespace gnntune::model
