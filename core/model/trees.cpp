#include "core/model/trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gnntune::model {

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
    std::array<double, kMostPoints> total;
    total.fill(forest.start);
    const Split* split = forest.splits.data();
    const float* leaves = forest.leaves.data();
    for (const std::int32_t depth : forest.depths) {
        const Split* const end = split + depth;
        std::uint32_t first = 0;
        for (; split != end && split->feature < shared_width; ++split) {
            first = 2 * first + static_cast<std::uint32_t>(!(shared[split->feature] <= split->threshold));
        }
        for (std::int32_t pack = 0; pack < points.packs(); ++pack) {
            std::array<std::uint32_t, kPack> leaf;
            leaf.fill(first);
            for (const Split* s = split; s != end; ++s) {
                const float* value = points.pack(s->feature - shared_width, pack);
                for (std::size_t p = 0; p < kPack; ++p) {
                    leaf[p] = 2 * leaf[p] + static_cast<std::uint32_t>(!(value[p] <= s->threshold));
                }
            }
            double* out = total.data() + static_cast<std::size_t>(pack) * kPack;
            for (std::size_t p = 0; p < kPack; ++p) out[p] += leaves[leaf[p]];
        }
        split = end;
        leaves += std::size_t{1} << depth;
    }
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += total[p];
}

}  // namespace gnntune::model
