#include "tuner/ablation.hpp"

#include <set>

namespace gnntune::tuner {
namespace {

std::set<std::string> param_names(const std::vector<TrainingProblem>& problems) {
    std::set<std::string> names;
    for (const TrainingProblem& p : problems) {
        for (const TimedConfig& c : p.configs) {
            for (const auto& [name, value] : c.config.params.values()) names.insert(name);
        }
    }
    return names;
}

}  // namespace

std::vector<FeatureGroup> feature_groups(const std::vector<TrainingProblem>& problems) {
    std::vector<FeatureGroup> groups{
        {"size", {"rows", "edges", "rows_per_sm", "edges_per_sm"}},
        {"degree", {"degree_mean", "degree_p50", "empty_share"}},
        {"skew",
         {"degree_cv", "degree_gini", "degree_max", "max_over_mean", "degree_p90", "degree_p99", "heaviest_1pct"}},
        {"windows", {"edges_over_v8", "edges_over_v16", "sgt_fill"}},
        {"blocks", {"edges_over_blocks", "in_blocks_8", "in_blocks_32", "in_blocks_128"}},
        {"density", {"density", "locality"}},
        {"caches", {"table_over_l2", "gathered_over_l2"}},
        {"roofline", {"roofline"}},
        {"width", {"k", "heads", "row_bytes", "vector_bytes"}},
        {"problem", {"weighted", "reversed", "self_loop", "mean", "max", "element_bytes"}},
        {"cost terms", {"dram", "l2", "reductions", "flops", "launches"}},
        {"teams", {"threads", "longest", "longest_over_work", "longest_over_roofline"}},
        {"rough estimate", {model::kRoughGap}},
        {"params over k", {}},
        {"params over degree", {}},
    };
    for (const std::string& name : param_names(problems)) {
        (groups.end() - 2)->features.push_back(name + "_over_k");
        groups.back().features.push_back(name + "_over_degree");
    }
    return groups;
}

std::vector<Ablation> ablation(const std::vector<TrainingProblem>& learn, const std::vector<TrainingProblem>& decide,
                               const std::vector<TrainingProblem>& score, const Registry& registry,
                               const EvaluateOptions& options) {
    std::vector<FeatureGroup> groups{{"nothing", {}}};
    for (FeatureGroup& g : feature_groups(learn)) groups.push_back(std::move(g));
    std::vector<Ablation> out;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        FeatureGroup& group = groups[g];
        EvaluateOptions one = options;
        if (options.progress) {
            one.progress = [&](std::size_t done, std::size_t total) {
                options.progress(g * total + done, groups.size() * total);
            };
        }
        one.searches = false;
        one.fit.without.insert(group.features.begin(), group.features.end());
        Evaluation evaluation = evaluate(learn, decide, score, registry, one);
        out.push_back({std::move(group), std::move(evaluation)});
    }
    return out;
}

}  // namespace gnntune::tuner
