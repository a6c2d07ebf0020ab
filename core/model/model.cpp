#include "core/model/model.hpp"

#include <algorithm>
#include <cmath>

namespace gnntune::model {
namespace {

// Mean and variance over the members, point by point.
struct Members {
    std::vector<double> mean;
    std::vector<double> variance;

    Members(const std::vector<Forest>& forests, const Points& points)
        : mean(static_cast<std::size_t>(points.count())), variance(mean.size()) {
        if (forests.empty()) return;
        std::vector<double> sums(mean.size());
        for (const Forest& forest : forests) {
            std::fill(sums.begin(), sums.end(), 0.0);
            add(forest, points, sums);
            for (std::size_t i = 0; i < sums.size(); ++i) {
                mean[i] += sums[i];
                variance[i] += sums[i] * sums[i];
            }
        }
        const auto n = static_cast<double>(forests.size());
        for (std::size_t i = 0; i < mean.size(); ++i) {
            mean[i] /= n;
            variance[i] = std::max(0.0, variance[i] / n - mean[i] * mean[i]);
        }
    }
};

}  // namespace

const VariantModel* Model::find(std::string_view id, std::int32_t version) const {
    for (const VariantModel& v : variants) {
        if (v.id == id && v.version == version) return &v;
    }
    return nullptr;
}

CodedConfigs::CodedConfigs(const Model& model, const Registry& registry, std::vector<Config> configs)
    : registry_(&registry), configs_(std::move(configs)) {
    for (std::size_t v = 0; v < model.variants.size(); ++v) {
        const VariantModel& fitted = model.variants[v];
        const Variant* variant = registry.find(fitted.id);
        if (!variant || variant->version != fitted.version) continue;
        Group group{variant, v, {}};
        for (std::size_t i = 0; i < configs_.size(); ++i) {
            if (configs_[i].variant != fitted.id) continue;
            group.known.push_back({i, coded_params(configs_[i].params, fitted.codes)});
        }
        if (!group.known.empty()) groups_.push_back(std::move(group));
    }
}

std::vector<Rated> rated_of(const Model& model, const Registry& registry) {
    std::vector<Rated> out;
    for (const VariantModel& v : model.variants) {
        const Variant* variant = registry.find(v.id);
        if (variant && variant->version == v.version && !v.rates.empty()) out.push_back({variant, &v.rates});
    }
    return out;
}

std::optional<std::string> Model::unknown_kind(const Problem& problem) const {
    const bool wide = size_of(problem.dtype) == 4;
    if (wide && !kinds.f32) return "storage in 32 bits";
    if (!wide && !kinds.narrow) return "storage in 16 bits";
    if (problem.reduce == Reduce::max ? !kinds.maxima : !kinds.sums) {
        return problem.reduce == Reduce::max ? "maxima" : "sums and means";
    }
    if (problem.op == Op::spmm_grad && (problem.weighted ? !kinds.weighted : !kinds.unweighted)) {
        return problem.weighted ? "gradients of weights" : "gradients without weights";
    }
    return std::nullopt;
}

std::vector<Prediction> predict(const Model& model, const CodedConfigs& configs, const Query& query,
                                const DeviceConstants& constants) {
    if (!model.ranks(query.problem)) return {};
    const std::vector<float> shared = problem_features(query, constants);
    const Members level(model.level, Points(shared, {}, 1));
    const double base = base_log_us(query, constants);
    const double best_log_us = base + level.mean.front();
    const ConfigFeatures features(query, base);
    PlainTerms plain(query, *configs.registry_);
    const RoughGaps rough(plain, constants, rated_of(model, *configs.registry_));
    std::vector<float> own;
    std::vector<float> gaps;
    std::vector<Prediction> out;
    out.reserve(configs.configs_.size());
    for (const CodedConfigs::Group& group : configs.groups_) {
        const VariantModel& fitted = model.variants[group.model];
        const std::size_t count = group.known.size();
        own.resize(count * static_cast<std::size_t>(config_width(fitted.codes)));
        gaps.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto& [config, coded] = group.known[i];
            const CostTerms terms = plain.of(*group.variant, configs.configs_[config].params);
            gaps[i] = rough.gap(terms, fitted.rates);
            features.write(terms, fitted.codes, coded, gaps[i], own.data() + i, count);
        }
        const Members slowdown(fitted.slowdown, Points(shared, own, static_cast<std::int32_t>(count)));
        const double margin = group.variant->baseline ? std::log1p(kLibraryMargin) : 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            const double sigma = std::sqrt(slowdown.variance[i] + double{fitted.spread} * fitted.spread);
            const double says = kRoughShare * double{gaps[i]} + slowdown.mean[i] + margin;
            out.push_back({group.known[i].config, group.variant, best_log_us + says, says, sigma});
        }
    }
    std::sort(out.begin(), out.end(), [](const Prediction& a, const Prediction& b) {
        return a.slowdown != b.slowdown ? a.slowdown < b.slowdown : a.config < b.config;
    });
    return out;
}

std::vector<Prediction> predict(const Model& model, const Registry& registry, const Query& query,
                                const DeviceConstants& constants, const std::vector<Config>& configs) {
    return predict(model, CodedConfigs(model, registry, configs), query, constants);
}

}  // namespace gnntune::model
