#include "core/model/trees.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

namespace gnntune::model {
namespace {

constexpr std::int32_t kDeepest = 32;  // of a tree: walks go down by recursion

class Walk {
public:
    Walk(const Forest& forest, const Points& points, std::span<double> sums)
        : nodes_(forest.nodes.data()),
          shared_(points.shared().data()),
          shared_width_(static_cast<std::int32_t>(points.shared().size())),
          points_(points),
          sums_(sums.data()) {}

    void descend(std::int32_t node, std::uint64_t here) {
        while (true) {
            const Node& n = nodes_[node];
            if (n.feature < 0) {
                for (; here != 0; here &= here - 1) sums_[std::countr_zero(here)] += n.threshold;
                return;
            }
            if (n.feature < shared_width_) {
                node = shared_[n.feature] <= n.threshold ? node + 1 : n.right;
                continue;
            }
            const std::uint64_t left = here & points_.at_most(n.feature - shared_width_, n.threshold);
            const std::uint64_t right = here & ~left;
            if (left != 0 && right != 0) descend(node + 1, left);
            here = right != 0 ? right : left;
            node = right != 0 ? n.right : node + 1;
        }
    }

private:
    const Node* nodes_;
    const float* shared_;
    std::int32_t shared_width_;
    const Points& points_;
    double* sums_;
};

}  // namespace

bool well_formed(const Forest& forest, std::int32_t features) {
    const auto size = static_cast<std::int32_t>(forest.nodes.size());
    for (const std::int32_t root : forest.roots) {
        if (root < 0 || root >= size) return false;
    }
    if (!std::isfinite(forest.start)) return false;
    std::vector<std::int32_t> depth(forest.nodes.size(), 0);
    for (std::int32_t i = 0; i < size; ++i) {
        const Node& n = forest.nodes[static_cast<std::size_t>(i)];
        if (!std::isfinite(n.threshold)) return false;
        if (n.feature < -1 || n.feature >= features) return false;
        // Children come after their parents, so that every walk ends.
        if (n.feature < 0) continue;
        if (n.right <= i + 1 || n.right >= size) return false;
        const std::int32_t below = depth[static_cast<std::size_t>(i)] + 1;
        if (below > kDeepest) return false;
        for (const std::int32_t child : {i + 1, n.right}) {
            depth[static_cast<std::size_t>(child)] = std::max(depth[static_cast<std::size_t>(child)], below);
        }
    }
    return true;
}

Points::Points(std::span<const float> shared, std::span<const float> own, std::int32_t count)
    : shared_(shared), count_(count) {
    const std::size_t width = count == 0 ? 0 : own.size() / static_cast<std::size_t>(count);
    steps_.reserve(own.size() + width);  // pointers into it are kept
    for (std::size_t feature = 0; feature < width; ++feature) {
        const auto begin = static_cast<std::ptrdiff_t>(steps_.size());
        const float* values = own.data() + feature * static_cast<std::size_t>(count);
        for (std::int32_t p = 0; p < count; ++p) {
            if (std::isnan(values[p])) continue;  // above every threshold
            auto at = steps_.begin() + begin;
            while (at != steps_.end() && at->value < values[p]) ++at;
            if (at == steps_.end() || at->value != values[p]) at = steps_.insert(at, {values[p], 0});
            at->points |= std::uint64_t{1} << p;
        }
        for (auto at = steps_.begin() + begin; at != steps_.end(); ++at) {
            if (at != steps_.begin() + begin) at->points |= std::prev(at)->points;
        }
        steps_.push_back({std::numeric_limits<float>::quiet_NaN(), 0});
        first_.push_back(steps_.data() + begin);
    }
}

void add(const Forest& forest, const Points& points, std::span<double> sums) {
    for (double& sum : sums) sum += forest.start;
    if (points.count() == 0) return;
    Walk walk(forest, points, sums);
    for (const std::int32_t root : forest.roots) walk.descend(root, points.all());
}

}  // namespace gnntune::model
