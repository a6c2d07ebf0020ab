// Regression trees, as plain arrays: what a fitted cost model is made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gnntune::model {

/// A node of a binary tree. An inner node sends a point left if its feature is at most `threshold`. The left child
/// follows its parent in the array.
struct Node {
    float threshold = 0;        ///< of an inner node; the value of a leaf
    std::int32_t feature = -1;  ///< -1: a leaf
    std::int32_t right = 0;     ///< index of the right child

    bool operator==(const Node&) const = default;
};

/// Sum of trees and a constant.
struct Forest {
    float start = 0;
    std::vector<std::int32_t> roots;
    std::vector<Node> nodes;

    bool operator==(const Forest&) const = default;
};

/// Whether every index of the forest lies inside it, every feature below `features`, every number is finite, and every
/// tree ends within 32 levels.
bool well_formed(const Forest& forest, std::int32_t features);

/// Points that agree in their first features: those of the problem, which all configs share.
struct Points {
    std::span<const float> shared;
    std::span<const float> own;  ///< [count, own_width], row-major: features shared.size() and up
    std::int32_t count = 0;
    std::int32_t own_width = 0;

    float at(std::int32_t point, std::int32_t feature) const {
        const auto width = static_cast<std::int32_t>(shared.size());
        return feature < width ? shared[static_cast<std::size_t>(feature)]
                               : own[static_cast<std::size_t>(point * own_width + feature - width)];
    }
};

/// sums[p] += forest(point p). All points walk a tree together and part only where their own features decide, so that a
/// tree costs little more for a hundred configs than for one. The forest is well formed.
void add(const Forest& forest, const Points& points, std::span<double> sums);

}  // namespace gnntune::model
