// Sizes and rates of boosted trees.
#pragma once

#include <cstdint>

namespace gnntune::tuner {

struct BoostOptions {
    int trees = 240;
    int depth = 6;
    float learning_rate = 0.15F;
    float row_share = 0.6F;      ///< of the rows, drawn for each tree
    float feature_share = 0.6F;  ///< of the features, drawn for each tree
    float prior = 0;             ///< rows' worth of 0 in the forest's constant: of a correction, which begins with none
    std::uint64_t seed = 1;
};

}  // namespace gnntune::tuner
