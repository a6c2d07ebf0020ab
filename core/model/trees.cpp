#include "core/model/trees.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gnntune::model {
namespace {

constexpr std::int32_t kDeepest = 32;  // of a tree: walks go down by recursion

class Walk {
public:
    Walk(const Forest& forest, const Points& points, std::span<double> sums)
        : forest_(forest), points_(points), sums_(sums) {}

    void descend(std::int32_t node, std::span<std::int32_t> here) {
        const auto shared = static_cast<std::int32_t>(points_.shared.size());
        while (!here.empty()) {
            const Node& n = forest_.nodes[static_cast<std::size_t>(node)];
            if (n.feature < 0) {
                for (const std::int32_t p : here) sums_[static_cast<std::size_t>(p)] += n.threshold;
                return;
            }
            if (n.feature < shared) {
                node = points_.shared[static_cast<std::size_t>(n.feature)] <= n.threshold ? node + 1 : n.right;
                continue;
            }
            const auto middle = std::partition(here.begin(), here.end(),
                                               [&](std::int32_t p) { return points_.at(p, n.feature) <= n.threshold; });
            const auto left = static_cast<std::size_t>(middle - here.begin());
            descend(node + 1, here.first(left));
            here = here.subspan(left);
            node = n.right;
        }
    }

private:
    const Forest& forest_;
    const Points& points_;
    std::span<double> sums_;
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

void add(const Forest& forest, const Points& points, std::span<double> sums) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(points.count));
    std::iota(all.begin(), all.end(), 0);
    for (double& sum : sums) sum += forest.start;
    Walk walk(forest, points, sums);
    for (const std::int32_t root : forest.roots) walk.descend(root, all);
}

}  // namespace gnntune::model
