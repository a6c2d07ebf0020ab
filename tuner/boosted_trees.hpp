// Gradient-boosted regression trees (squared error, histograms): how a cost model learns. Friedman, Greedy function
// approximation: a gradient boosting machine, 2001.
#pragma once

#include <Eigen/Core>

#include "core/model/trees.hpp"
#include "tuner/boost_options.hpp"

namespace gnntune::tuner {

/// A forest for y given x [rows, features]. Deterministic for a seed. Rows of weight 0 do not count. Without rows that
/// count, a forest that says 0.
model::Forest fit_boosted_trees(const Eigen::ArrayXXf& x, const Eigen::ArrayXf& y, const Eigen::ArrayXf& weight,
                                const BoostOptions& options);

}  // namespace gnntune::tuner
