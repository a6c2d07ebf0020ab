// Gradient-boosted regression trees (squared error, histograms): how a cost model learns. Friedman, Greedy function
// approximation: a gradient boosting machine, 2001.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "core/model/trees.hpp"

namespace gnntune::tuner {

struct BoostOptions {
    int trees = 100;
    int depth = 4;
    float learning_rate = 0.1F;
    float row_share = 0.6F;      ///< of the rows, drawn for each tree
    float feature_share = 0.6F;  ///< of the features, drawn for each tree
    int min_leaf = 4;            ///< rows
    std::uint64_t seed = 1;
};

/// A forest for y given x [rows, features]. Deterministic for a seed. Rows of weight 0 do not count. Without rows that
/// count, a forest that says 0.
model::Forest fit_boosted_trees(const Eigen::ArrayXXf& x, const Eigen::ArrayXf& y, const Eigen::ArrayXf& weight,
                                const BoostOptions& options);

}  // namespace gnntune::tuner
