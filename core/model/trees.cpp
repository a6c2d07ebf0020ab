#include "core/model/trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace gnntune::model {
namespace {

// A vector register of every machine; GCC turns wider ones into worse code where only these are there.
constexpr std::size_t kLanes = 4;
using Values [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using Answers [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] = std::int32_t;

}  // namespace

bool well_formed(const Forest& forest, std::int32_t features) {
    if (!std::isfinite(forest.start)) return false;
    std::size_t splits = 0;
    std::size_t leaves = 0;
    for (const std::int32_t depth : forest.depths) {
        if (depth < 1 || depth > kDeepest) return false;
        const auto levels = static_cast<std::size_t>(depth);
        if (levels > forest.splits.size() - splits) return false;
        for (std::size_t s = splits + 1; s < splits + levels; ++s) {
            if (forest.splits[s].feature < forest.splits[s - 1].feature) return false;
        }
        splits += levels;
        leaves += std::size_t{1} << depth;
    }
    if (splits != forest.splits.size() || leaves != forest.leaves.size()) return false;
    const auto sound = [&](const Split& s) {
        return std::isfinite(s.threshold) && s.feature >= 0 && s.feature < features;
    };
    return std::all_of(forest.splits.begin(), forest.splits.end(), sound) &&
           std::all_of(forest.leaves.begin(), forest.leaves.end(), [](float leaf) { return std::isfinite(leaf); });
}

Points::Points(std::span<const float> shared, std::span<const float> own, std::int32_t count)
    : shared_(shared), count_(count), packs_((count + kPack - 1) / kPack) {
    const std::size_t width = count == 0 ? 0 : own.size() / static_cast<std::size_t>(count);
    own_.resize(width * static_cast<std::size_t>(packs_ * kPack));
    for (std::size_t feature = 0; feature < width; ++feature) {
        std::copy_n(own.data() + feature * static_cast<std::size_t>(count), count,
                    own_.data() + feature * static_cast<std::size_t>(packs_ * kPack));
    }
}

void add(const Forest& forest, const Points& points, std::span<double> sums) {
    constexpr auto kPack = static_cast<std::size_t>(Points::kPack);
    const float* shared = points.shared().data();
    const auto shared_width = static_cast<std::int32_t>(points.shared().size());
    // What the shared features leave of each tree: the questions about the others, and the leaves those choose among.
    struct Rest {
        const Split* first;
        const Split* end;
        const float* leaves;
    };
    std::vector<Rest> rests;
    rests.reserve(forest.depths.size());
    double common = forest.start;
    const Split* split = forest.splits.data();
    const float* leaves = forest.leaves.data();
    for (const std::int32_t depth : forest.depths) {
        const Split* const end = split + depth;
        std::size_t answers = 0;
        for (; split != end && split->feature < shared_width; ++split) {
            answers = 2 * answers + static_cast<std::size_t>(!(shared[split->feature] <= split->threshold));
        }
        const float* const left = leaves + (answers << (end - split));
        if (split == end) {
            common += *left;
        } else {
            rests.push_back({split, end, left});
        }
        split = end;
        leaves += std::size_t{1} << depth;
    }
    for (std::int32_t pack = 0; pack < points.packs(); ++pack) {
        std::array<double, kPack> total;
        total.fill(common);
        for (const Rest& rest : rests) {
            std::array<Answers, kPack / kLanes> leaf{};
            for (const Split* s = rest.first; s != rest.end; ++s) {
                std::array<Values, kPack / kLanes> values;
                std::memcpy(&values, points.pack(s->feature - shared_width, pack), sizeof values);
                // A comparison that holds is -1.
                for (std::size_t v = 0; v < values.size(); ++v) leaf[v] += leaf[v] + 1 + (values[v] <= s->threshold);
            }
            for (std::size_t p = 0; p < kPack; ++p) total[p] += rest.leaves[leaf[p / kLanes][p % kLanes]];
        }
        const auto at = static_cast<std::size_t>(pack) * kPack;
        for (std::size_t p = 0; p < std::min(kPack, sums.size() - at); ++p) sums[at + p] += total[p];
    }
}

}  // namespace gnntune::model
