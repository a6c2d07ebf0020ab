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
        : mean(static_cast<std::size_t>(points.count)), variance(mean.size()) {
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

std::vector<Prediction> predict(const Model& model, const Registry& registry, const Query& query,
                                const DeviceConstants& constants, const std::vector<Config>& configs) {
    const std::vector<float> shared = problem_features(query, constants);
    const Members level(model.level, Points{shared, {}, 1, 0});
    const double best_log_us = base_log_us(query, constants) + level.mean.front();
    std::vector<Prediction> out;
    for (const VariantModel& known : model.variants) {
        const Variant* variant = registry.find(known.id);
        if (!variant || variant->version != known.version) continue;
        std::vector<std::size_t> mine;
        std::vector<float> own;
        for (std::size_t i = 0; i < configs.size(); ++i) {
            if (configs[i].variant != known.id) continue;
            mine.push_back(i);
            append_config_features(query, *variant, configs[i].params, known.codes, own);
        }
        if (mine.empty()) continue;
        const Points points{shared, own, static_cast<std::int32_t>(mine.size()), config_width(known.codes)};
        const Members slowdown(known.slowdown, points);
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const double sigma = std::sqrt(slowdown.variance[i] + double{known.spread} * known.spread);
            out.push_back({mine[i], best_log_us + slowdown.mean[i], slowdown.mean[i], sigma});
        }
    }
    std::sort(out.begin(), out.end(), [](const Prediction& a, const Prediction& b) {
        return a.slowdown != b.slowdown ? a.slowdown < b.slowdown : a.config < b.config;
    });
    return out;
}

}  // namespace gnntune::model
