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

inline constexpr std::int32_t kMostPoints = 64;

/// Up to kMostPoints points that agree in their first features: those of the problem, which all configs share. The
/// other features are kept as sets of points, a bit each, so that a node parts them without looking at every one.
class Points {
public:
    /// `own` is [width, count], a feature after the other: features shared.size() and up. `shared` is borrowed.
    Points(std::span<const float> shared, std::span<const float> own, std::int32_t count);

    std::int32_t count() const { return count_; }
    std::uint64_t all() const { return count_ == 0 ? 0 : ~std::uint64_t{0} >> (kMostPoints - count_); }
    std::span<const float> shared() const { return shared_; }
    /// Those whose feature shared.size() + `own` is at most `threshold`.
    std::uint64_t at_most(std::int32_t own, float threshold) const {
        std::uint64_t points = 0;
        // Few: params take few values, and configs of a variant differ in few of the other features.
        for (const Step* s = first_[static_cast<std::size_t>(own)]; s->value <= threshold; ++s) points = s->points;
        return points;
    }

private:
    /// A value that a feature takes, and the points whose value is at most that.
    struct Step {
        float value = 0;
        std::uint64_t points = 0;
    };

    std::span<const float> shared_;
    std::int32_t count_;
    std::vector<Step> steps_;         // ascending for each own feature, then one that is above every threshold
    std::vector<const Step*> first_;  // of each own feature
};

/// sums[p] += forest(point p). All points walk a tree together and part only where their own features decide, so that a
/// tree costs little more for a hundred configs than for one. The forest is well formed.
void add(const Forest& forest, const Points& points, std::span<double> sums);

}  // namespace gnntune::model
