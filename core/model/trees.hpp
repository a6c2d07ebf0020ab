// Regression trees, as plain arrays: what a fitted cost model is made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gnntune::model {

/// A question that a tree asks of every point on one of its levels: whether the feature is above the threshold. A NaN
/// is.
struct Split {
    float threshold = 0;
    std::int32_t feature = 0;

    bool operator==(const Split&) const = default;
};

inline constexpr std::int32_t kDeepest = 16;  ///< splits of a tree

/// Sum of symmetric trees and a constant. A symmetric tree asks the same on a whole level, so that the answers, read as
/// a binary number, first split first, say which leaf a point falls into: no branch depends on them.
struct Forest {
    float start = 0;
    std::vector<std::int32_t> depths;  ///< of each tree: its splits
    std::vector<Split> splits;         ///< of all trees, one after another; within a tree features do not fall
    std::vector<float> leaves;         ///< likewise, 2^depth for each tree

    bool operator==(const Forest&) const = default;
};

/// Whether every tree has 1 to kDeepest splits in order and its leaves, every feature is below `features`, and every
/// number is finite.
bool well_formed(const Forest& forest, std::int32_t features);

/// Points that agree in their first features: those of the problem, which all configs share. The
/// other features lie side by side, padded to whole packs, so that a split asks a pack in a few instructions.
class Points {
public:
    static constexpr std::int32_t kPack = 8;

    /// `own` is [width, count], a feature after the other: features shared.size() and up. `shared` is borrowed.
    Points(std::span<const float> shared, std::span<const float> own, std::int32_t count);

    std::int32_t count() const { return count_; }
    std::int32_t packs() const { return packs_; }
    std::int32_t own_width() const { return own_width_; }
    std::span<const float> shared() const { return shared_; }
    /// kPack values of feature shared.size() + `own`; anything behind the last point.
    const float* pack(std::int32_t own, std::int32_t pack) const {
        return own_.data() + (static_cast<std::ptrdiff_t>(own) * packs_ + pack) * kPack;
    }

private:
    std::span<const float> shared_;
    std::int32_t count_;
    std::int32_t packs_;
    std::int32_t own_width_;
    std::vector<float> own_;  // [width, packs, kPack]
};

/// sums[p] += forest(point p). What all points share is asked once for all, so that a tree costs little more for eight
/// configs than for one. The forest is well formed.
void add(const Forest& forest, const Points& points, std::span<double> sums);

}  // namespace gnntune::model
