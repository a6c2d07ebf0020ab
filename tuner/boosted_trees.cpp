#include "tuner/boosted_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace gnntune::tuner {
namespace {

constexpr int kBins = 64;
constexpr float kShrink = 1.0F;  // weight of a leaf's prior, a value of 0
// Leaves are multiples of 2^-13 of the logarithm, a sum of 400 of which is wrong by a fifteenth of a percent: their last
// bits are noise, of which a packed model is two thirds. The trees behind a rounded one see what it says.
constexpr float kLeafSteps = 8192;

// A feature cut into at most kBins intervals: bin b holds values up to edges[b].
struct Binned {
    struct Edge {
        float low = 0;   // the largest value below
        float high = 0;  // the least above
        float middle() const { return low + (high - low) / 2; }
    };
    std::vector<Edge> edges;
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
        const Binned::Edge edge{low, high};
        if (out.edges.empty() || edge.middle() > out.edges.back().middle()) out.edges.push_back(edge);
    }
    out.bin.resize(static_cast<std::size_t>(x.rows()));
    for (Eigen::Index r = 0; r < x.rows(); ++r) {
        const auto at = std::lower_bound(out.edges.begin(), out.edges.end(), x(r, feature),
                                         [](const Binned::Edge& e, float value) { return e.middle() < value; });
        out.bin[static_cast<std::size_t>(r)] = static_cast<std::uint8_t>(at - out.edges.begin());
    }
    return out;
}

// Residual times weight, and weight, added in one instruction.
using Sums = Eigen::Array2d;

double mean(const Sums& s) {
    return s(0) / (s(1) + double{kShrink});
}
double score(const Sums& s) {
    return s(0) * s(0) / (s(1) + double{kShrink});
}

// What a tree grows from: the rows that were drawn for it, side by side.
struct Drawn {
    std::vector<Sums> sums;                       // by row
    std::vector<std::uint32_t> leaf;              // by row, in the tree as it is
    std::vector<std::vector<std::uint8_t>> bins;  // by feature that was drawn, and row
};

class Grower {
public:
    Grower(const std::vector<Binned>& bins, const Eigen::ArrayXf& weight, const BoostOptions& options,
           model::Forest& forest)
        : bins_(bins),
          weight_(weight),
          options_(options),
          forest_(forest),
          random_(options.seed),
          leaf_(static_cast<std::size_t>(weight.size())) {}

    /// Adds a tree that says what is left of the `rows`, split by `features`. False, and no tree, if no split tells
    /// any rows apart: a lone leaf only adds the noise of what was drawn.
    bool grow(const std::vector<int>& rows, const std::vector<int>& features, const Eigen::ArrayXf& residual) {
        Drawn drawn = drawn_of(rows, features, residual);
        std::vector<Cut> cuts = cuts_of(drawn, features);
        if (cuts.empty()) return false;
        std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.feature < b.feature; });
        std::fill(leaf_.begin(), leaf_.end(), 0U);
        for (int r = 0; r < static_cast<int>(leaf_.size()); ++r) {
            for (const Cut& cut : cuts) answer(cut, r);
        }
        std::vector<Sums> leaves(std::size_t{1} << cuts.size(), Sums::Zero());
        for (std::size_t i = 0; i < rows.size(); ++i) leaves[leaf_[static_cast<std::size_t>(rows[i])]] += drawn.sums[i];
        first_leaf_ = forest_.leaves.size();
        forest_.depths.push_back(static_cast<std::int32_t>(cuts.size()));
        for (const Cut& cut : cuts) {
            const auto& edges = bins_[static_cast<std::size_t>(cut.feature)].edges;
            forest_.splits.push_back({between(edges[static_cast<std::size_t>(cut.bin)]), cut.feature});
        }
        for (const Sums& l : leaves) {
            const float value = options_.learning_rate * static_cast<float>(mean(l));
            forest_.leaves.push_back(std::round(value * kLeafSteps) / kLeafSteps);
        }
        return true;
    }

    /// What the last tree says of a row.
    float value(int row) const { return forest_.leaves[first_leaf_ + leaf_[static_cast<std::size_t>(row)]]; }

private:
    struct Cut {
        int feature = -1;  // none
        int bin = 0;       // the last one below
    };

    void answer(const Cut& cut, int row) {
        const auto r = static_cast<std::size_t>(row);
        const bool above = bins_[static_cast<std::size_t>(cut.feature)].bin[r] > cut.bin;
        leaf_[r] = 2 * leaf_[r] + (above ? 1U : 0U);
    }

    // Anywhere between the neighbours, which are told apart all the same: few graphs leave wide gaps, and a sum of trees
    // that all cut a gap in its middle jumps there.
    float between(const Binned::Edge& edge) {
        const float share = static_cast<float>(random_() >> 40) * 0x1.0p-24F;
        const float at = edge.low + (edge.high - edge.low) * share;
        return at < edge.high ? at : edge.low;
    }

    Drawn drawn_of(const std::vector<int>& rows, const std::vector<int>& features,
                   const Eigen::ArrayXf& residual) const {
        Drawn drawn;
        drawn.sums.reserve(rows.size());
        for (const int r : rows) drawn.sums.emplace_back(double{weight_(r)} * residual(r), weight_(r));
        drawn.leaf.assign(rows.size(), 0);
        drawn.bins.reserve(features.size());
        for (const int f : features) {
            const std::vector<std::uint8_t>& all = bins_[static_cast<std::size_t>(f)].bin;
            std::vector<std::uint8_t>& bin = drawn.bins.emplace_back(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) bin[i] = all[static_cast<std::size_t>(rows[i])];
        }
        return drawn;
    }

    // A tree's questions, each asked of all leaves at once, as long as one leaves less unexplained.
    std::vector<Cut> cuts_of(Drawn& drawn, const std::vector<int>& features) const {
        std::vector<Cut> cuts;
        while (static_cast<int>(cuts.size()) < options_.depth) {
            const Cut cut = best_cut(drawn, features, std::size_t{1} << cuts.size());
            if (cut.feature < 0) break;
            const auto at = std::find(features.begin(), features.end(), cut.feature) - features.begin();
            const std::vector<std::uint8_t>& bin = drawn.bins[static_cast<std::size_t>(at)];
            for (std::size_t i = 0; i < bin.size(); ++i) {
                drawn.leaf[i] = 2 * drawn.leaf[i] + (bin[i] > cut.bin ? 1U : 0U);
            }
            cuts.push_back(cut);
        }
        return cuts;
    }

    // Sums of rows by feature (`count` of them from `first` on), leaf and bin. Rows of one bin follow each other, and each
    // waits for the sum before it: several features at a time fill the wait.
    static constexpr std::size_t kTogether = 4;
    static void fill(std::vector<Sums>& histogram, const Drawn& drawn, std::size_t first, std::size_t count,
                     std::size_t leaves) {
        const std::size_t each = leaves * kBins;
        histogram.assign(kTogether * each, Sums::Zero());
        std::array<const std::uint8_t*, kTogether> bins{};
        for (std::size_t f = 0; f < kTogether; ++f) bins[f] = drawn.bins[first + std::min(f, count - 1)].data();
        for (std::size_t i = 0; i < drawn.sums.size(); ++i) {
            const Sums sums = drawn.sums[i];
            Sums* const leaf = histogram.data() + drawn.leaf[i] * std::size_t{kBins};
            for (std::size_t f = 0; f < kTogether; ++f) leaf[f * each + bins[f][i]] += sums;
        }
    }

    // The one that, asked of all leaves at once, leaves least unexplained.
    Cut best_cut(const Drawn& drawn, const std::vector<int>& features, std::size_t leaves) const {
        const std::size_t rows = drawn.sums.size();
        std::vector<Sums> all(leaves, Sums::Zero());
        for (std::size_t i = 0; i < rows; ++i) all[drawn.leaf[i]] += drawn.sums[i];
        double best = 1e-9;
        for (const Sums& leaf : all) best += score(leaf);
        best *= 1 + 1e-9;
        Cut cut;
        std::vector<Sums> histogram;
        std::vector<double> explained;
        for (std::size_t first = 0; first < features.size(); first += kTogether) {
            const std::size_t here = std::min(kTogether, features.size() - first);
            fill(histogram, drawn, first, here, leaves);
            for (std::size_t f = 0; f < here; ++f) {
                const std::size_t cuts = bins_[static_cast<std::size_t>(features[first + f])].edges.size();
                const Sums* sums = histogram.data() + f * leaves * kBins;
                explained.assign(cuts, 0.0);
                for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
                    Sums below = Sums::Zero();
                    for (std::size_t c = 0; c < cuts; ++c) {
                        below += sums[leaf * kBins + c];
                        explained[c] += score(below) + score(all[leaf] - below);
                    }
                }
                for (std::size_t c = 0; c < cuts; ++c) {
                    if (explained[c] > best) best = explained[c], cut = {features[first + f], static_cast<int>(c)};
                }
            }
        }
        return cut;
    }

    const std::vector<Binned>& bins_;
    const Eigen::ArrayXf& weight_;
    const BoostOptions& options_;
    model::Forest& forest_;
    std::mt19937_64 random_;
    std::vector<std::uint32_t> leaf_;  // of each row, in the tree that grows
    std::size_t first_leaf_ = 0;
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

    forest.start = (y * weight).sum() / (weight.sum() + options.prior);
    Eigen::ArrayXf residual = y - forest.start;
    Grower grower(bins, weight, options, forest);
    std::mt19937_64 random(options.seed);
    for (int t = 0; t < options.trees; ++t) {
        const std::vector<int> drawn = draw(rows, options.row_share, random);
        if (!grower.grow(drawn, draw(features, options.feature_share, random), residual)) continue;
        for (const int r : rows) residual(r) -= grower.value(r);
    }
    return forest;
}

}  // namespace gnntune::tuner
