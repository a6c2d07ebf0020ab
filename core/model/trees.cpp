#include "core/model/trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/model/rests.hpp"

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
    : shared_(shared),
      count_(count),
      packs_((count + kPack - 1) / kPack),
      own_width_(count == 0 ? 0 : static_cast<std::int32_t>(own.size() / static_cast<std::size_t>(count))) {
    const auto width = static_cast<std::size_t>(own_width_);
    own_.resize(width * static_cast<std::size_t>(packs_ * kPack));
    for (std::size_t feature = 0; feature < width; ++feature) {
        std::copy_n(own.data() + feature * static_cast<std::size_t>(count), count,
                    own_.data() + feature * static_cast<std::size_t>(packs_ * kPack));
    }
}

void add(const Forest& forest, const Points& points, std::span<double> sums) {
    add(forest, points, sums, fastest_sum_rests());
}

void add(const Forest& forest, const Points& points, std::span<double> sums, SumRests sum_rests) {
    constexpr auto kPack = static_cast<std::size_t>(Points::kPack);
    constexpr float kBelow = -std::numeric_limits<float>::infinity();
    if (points.count() == 0) return;  // then nobody knows how many own features there are
    const auto shared_width = points.shared().size();
    // What is known of all points. Own features are below every threshold here, and are asked by sum_rests.
    std::vector<float> known(shared_width + static_cast<std::size_t>(points.own_width()), kBelow);
    std::copy(points.shared().begin(), points.shared().end(), known.begin());
    // What a tree leaves open, and the leaves of those that leave nothing. Each tree is written behind both lists and counts
    // in one: which one no processor guesses, and a wrong guess costs more than the rest of a tree.
    std::vector<Rest> rests(forest.depths.size());
    std::vector<const float*> closed(forest.depths.size());
    std::size_t left = 0;
    std::size_t ended = 0;
    const Split* split = forest.splits.data();
    const float* leaves = forest.leaves.data();
    const auto ask = [&](std::int32_t depth) __attribute__((always_inline)) {
        std::int32_t answers = 0;
        std::int32_t open = 0;
        for (std::int32_t level = 0; level < depth; ++level) {
            const auto feature = static_cast<std::size_t>(split[level].feature);
            answers = 2 * answers + static_cast<std::int32_t>(!(known[feature] <= split[level].threshold));
            open += static_cast<std::int32_t>(feature >= shared_width);
        }
        split += depth;
        const bool windowed = open <= Rest::kQuestions && depth >= Rest::kQuestions;
        const std::int32_t base = windowed ? answers % Rest::kWindow : 0;
        rests[left] = {split, leaves + (answers - base), base, open, windowed};
        left += static_cast<std::size_t>(open != 0);
        closed[ended] = leaves + answers;
        ended += static_cast<std::size_t>(open == 0);
        leaves += std::size_t{1} << depth;
    };
    constexpr std::int32_t kUsual = 6;  // of models by default: the compiler unrolls a loop of known length
    for (const std::int32_t depth : forest.depths) {
        if (depth == kUsual) {
            ask(kUsual);
        } else {
            ask(depth);
        }
    }
    double common = forest.start;
    for (std::size_t tree = 0; tree < ended; ++tree) common += *closed[tree];
    std::array<float, kPack> below;
    below.fill(kBelow);
    std::vector<const float*> values(known.size(), below.data());
    for (std::int32_t pack = 0; pack < points.packs(); ++pack) {
        for (std::int32_t own = 0; own < points.own_width(); ++own) {
            values[shared_width + static_cast<std::size_t>(own)] = points.pack(own, pack);
        }
        PackSums total;
        total.fill(common);
        sum_rests({rests.data(), left}, values, total);
        const auto at = static_cast<std::size_t>(pack) * kPack;
        for (std::size_t p = 0; p < std::min(kPack, sums.size() - at); ++p) sums[at + p] += total[p];
    }
}

}  // namespace gnntune::model
