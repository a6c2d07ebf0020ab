#include "tuner/boosted_trees.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

namespace gnntune::tuner {
namespace {

constexpr int kBins = 64;
constexpr float kShrink = 1.0F;  // weight of a leaf's prior, a value of 0

// A feature cut into at most kBins intervals: bin b holds values up to edges[b].
struct Binned {
    std::vector<float> edges;
    std::vector<std::uint8_t> bin;  // by row
};

Binned bins_of(const Eigen::ArrayXXf& x, Eigen::Index feature, const std::vector<int>& rows) {
    std::vector<float> values;
    values.reserve(rows.size());
    for (const int r : rows) values.push_back(x(r, feature));
    std::sort(values.begin(), values.end());
    std::vector<float> distinct = values;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    Binned out;
    const std::size_t cuts = std::min<std::size_t>(kBins, distinct.size()) - 1;
    for (std::size_t c = 1; c <= cuts; ++c) {
        // Between neighbours, so that a value which was not seen falls to the nearer one.
        float low = 0;
        float high = 0;
        if (distinct.size() <= kBins) {
            low = distinct[c - 1], high = distinct[c];
        } else {
            low = values[c * values.size() / kBins - 1];
            high = *std::upper_bound(distinct.begin(), distinct.end() - 1, low);
        }
        const float edge = low + (high - low) / 2;
        if (out.edges.empty() || edge > out.edges.back()) out.edges.push_back(edge);
    }
    out.bin.resize(static_cast<std::size_t>(x.rows()));
    for (Eigen::Index r = 0; r < x.rows(); ++r) {
        const auto at = std::lower_bound(out.edges.begin(), out.edges.end(), x(r, feature));
        out.bin[static_cast<std::size_t>(r)] = static_cast<std::uint8_t>(at - out.edges.begin());
    }
    return out;
}

struct Sums {
    double residual = 0;
    double weight = 0;
    int count = 0;
};

double score(double residual, double weight) {
    return residual * residual / (weight + double{kShrink});
}

class Grower {
public:
    Grower(const std::vector<Binned>& bins, const Eigen::ArrayXf& weight, const BoostOptions& options,
           model::Forest& forest)
        : bins_(bins), weight_(weight), options_(options), forest_(forest) {}

    void grow(std::vector<int>& rows, const std::vector<int>& features, const Eigen::ArrayXf& residual) {
        residual_ = &residual;
        features_ = &features;
        forest_.roots.push_back(static_cast<std::int32_t>(forest_.nodes.size()));
        split(rows.begin(), rows.end(), options_.depth);
    }

private:
    using Rows = std::vector<int>::iterator;

    void split(Rows begin, Rows end, int depth) {
        Sums all;
        for (auto r = begin; r != end; ++r) count(all, *r);
        const auto here = static_cast<std::int32_t>(forest_.nodes.size());
        forest_.nodes.emplace_back();
        int feature = -1;
        int cut = 0;
        if (depth > 0) best_cut(begin, end, all, feature, cut);
        if (feature < 0) {
            forest_.nodes.back().threshold =
                options_.learning_rate * static_cast<float>(all.residual / (all.weight + double{kShrink}));
            return;
        }
        const Binned& b = bins_[static_cast<std::size_t>(feature)];
        const auto middle =
            std::stable_partition(begin, end, [&](int r) { return b.bin[static_cast<std::size_t>(r)] <= cut; });
        split(begin, middle, depth - 1);
        const auto right = static_cast<std::int32_t>(forest_.nodes.size());
        split(middle, end, depth - 1);
        forest_.nodes[static_cast<std::size_t>(here)] = {b.edges[static_cast<std::size_t>(cut)], feature, right};
    }

    void count(Sums& sums, int row) const {
        const double w = weight_(row);
        sums.residual += w * (*residual_)(row);
        sums.weight += w;
        ++sums.count;
    }

    void best_cut(Rows begin, Rows end, const Sums& all, int& feature, int& cut) const {
        double best = score(all.residual, all.weight) + 1e-9;
        for (const int f : *features_) {
            const Binned& b = bins_[static_cast<std::size_t>(f)];
            if (b.edges.empty()) continue;
            std::array<Sums, kBins> histogram{};
            for (auto r = begin; r != end; ++r) count(histogram[b.bin[static_cast<std::size_t>(*r)]], *r);
            Sums left;
            for (std::size_t c = 0; c < b.edges.size(); ++c) {
                left.residual += histogram[c].residual;
                left.weight += histogram[c].weight;
                left.count += histogram[c].count;
                if (left.count < options_.min_leaf) continue;
                if (all.count - left.count < options_.min_leaf) break;
                const double gain =
                    score(left.residual, left.weight) + score(all.residual - left.residual, all.weight - left.weight);
                if (gain > best) best = gain, feature = f, cut = static_cast<int>(c);
            }
        }
    }

    const std::vector<Binned>& bins_;
    const Eigen::ArrayXf& weight_;
    const BoostOptions& options_;
    model::Forest& forest_;
    const Eigen::ArrayXf* residual_ = nullptr;
    const std::vector<int>* features_ = nullptr;
};

// `share` of the elements, at least one, in their order.
std::vector<int> draw(const std::vector<int>& from, float share, std::mt19937_64& random) {
    const auto wanted = std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<float>(from.size())));
    std::vector<int> out;
    out.reserve(wanted);
    std::size_t left = from.size();
    for (const int value : from) {
        if (random() % left < wanted - out.size()) out.push_back(value);
        --left;
    }
    return out;
}

float value_of(const model::Forest& forest, std::int32_t root, const std::vector<Binned>& bins, int row) {
    std::int32_t node = root;
    for (;;) {
        const model::Node& n = forest.nodes[static_cast<std::size_t>(node)];
        if (n.feature < 0) return n.threshold;
        const Binned& b = bins[static_cast<std::size_t>(n.feature)];
        // The bins' edges are the thresholds.
        const std::size_t bin = b.bin[static_cast<std::size_t>(row)];
        node = bin < b.edges.size() && b.edges[bin] <= n.threshold ? node + 1 : n.right;
    }
}

}  // namespace

model::Forest fit_boosted_trees(const Eigen::ArrayXXf& x, const Eigen::ArrayXf& y, const Eigen::ArrayXf& weight,
                                const BoostOptions& options) {
    model::Forest forest;
    std::vector<int> rows;
    for (Eigen::Index r = 0; r < x.rows(); ++r) {
        if (weight(r) > 0) rows.push_back(static_cast<int>(r));
    }
    if (rows.empty()) return forest;
    std::vector<Binned> bins;
    for (Eigen::Index f = 0; f < x.cols(); ++f) bins.push_back(bins_of(x, f, rows));
    std::vector<int> features(static_cast<std::size_t>(x.cols()));
    std::iota(features.begin(), features.end(), 0);

    forest.start = (y * weight).sum() / weight.sum();
    Eigen::ArrayXf residual = y - forest.start;
    Grower grower(bins, weight, options, forest);
    std::mt19937_64 random(options.seed);
    for (int t = 0; t < options.trees; ++t) {
        std::vector<int> drawn_rows = draw(rows, options.row_share, random);
        grower.grow(drawn_rows, draw(features, options.feature_share, random), residual);
        // A lone leaf only adds the noise of what was drawn.
        if (forest.nodes[static_cast<std::size_t>(forest.roots.back())].feature < 0) {
            forest.nodes.resize(static_cast<std::size_t>(forest.roots.back()));
            forest.roots.pop_back();
            continue;
        }
        for (const int r : rows) residual(r) -= value_of(forest, forest.roots.back(), bins, r);
    }
    return forest;
}

}  // namespace gnntune::tuner
