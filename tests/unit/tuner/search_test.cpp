// A search on surfaces that are known everywhere: it starts at the default, finds the fastest with few measurements,
// and is not led astray for good.
#include "tuner/measuring/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace gnntune::tuner {
namespace {

/// Three variants of 64 configs: valleys in two params, a word that shifts a third of the configs, and variants that
/// lie apart. The default is a config of the second variant, slower than the best by a half.
class SearchTest : public testing::Test {
protected:
    void SetUp() override {
        for (int variant = 0; variant < 3; ++variant) {
            for (int lanes = 0; lanes < 8; ++lanes) {
                for (int split = 0; split < 4; ++split) {
                    for (const char* order : {"rows", "edges"}) {
                        SearchConfig c;
                        c.config.variant = std::string("spmm.v").append(std::to_string(variant));
                        c.config.params = {{"lanes", std::to_string(1 << lanes)},
                                           {"split", std::to_string(1 << split)},
                                           {"order", order}};
                        c.standard = lanes == 0 && split == 0 && std::string(order) == "rows";
                        configs_.push_back(c);
                        const double valley = 0.06 * std::pow(lanes - 2 - variant, 2) + 0.04 * std::pow(split - 2, 2);
                        const double apart = variant == 0 ? 0.3 : variant == 1 ? 0.05 : 0;
                        const double word = order == std::string("rows") ? 0.1 : 0;
                        us_.push_back(100 * std::exp(valley + apart + word + 0.01 * std::sin(7.0 * lanes + split)));
                    }
                }
            }
        }
        default_ = 64;
        configs_[default_].first = true;
        best_us_ = *std::min_element(us_.begin(), us_.end());
    }

    /// Predictions that are off by `common` for all, for each variant and each config at random.
    void predict(double common, double of_variant, double of_config) {
        std::mt19937_64 random(3);
        const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; };
        std::vector<double> shift;
        for (int v = 0; v < 3; ++v) shift.push_back(of_variant * unit());
        for (std::size_t i = 0; i < configs_.size(); ++i) {
            configs_[i].log_us = std::log(us_[i]) + common + shift[i / 64] + of_config * unit();
            configs_[i].sigma = std::hypot(of_variant, of_config);
        }
    }

    /// Best time over the fastest found.
    double run(const SearchOptions& options = {}) {
        Search search(configs_, options);
        order_.clear();
        double fastest = INFINITY;
        for (auto group = search.next(); !group.empty(); group = search.next()) {
            EXPECT_LE(group.size(), options.group);
            for (const std::size_t i : group) {
                EXPECT_EQ(std::count(order_.begin(), order_.end(), i), 0) << "proposed twice: " << i;
                search.tell(i, us_[i]);
                order_.push_back(i);
                fastest = std::min(fastest, us_[i]);
            }
        }
        EXPECT_EQ(order_.front(), default_);
        EXPECT_LE(fastest, us_[default_]);
        EXPECT_EQ(search.told(), order_.size());
        return best_us_ / fastest;
    }

    std::vector<SearchConfig> configs_;
    std::vector<double> us_;
    std::size_t default_ = 0;
    double best_us_ = 0;
    std::vector<std::size_t> order_;  // as they were told
};

TEST_F(SearchTest, WithAGoodModelAFewConfigsDo) {
    predict(0.5, 0.05, 0.02);
    EXPECT_GT(run(), 0.995);
    EXPECT_LE(order_.size(), 15u);
}

TEST_F(SearchTest, WithARoughModelItLooksLonger) {
    predict(-0.5, 0.2, 0.1);
    EXPECT_GT(run(), 0.99);
    EXPECT_LE(order_.size(), 70u);
}

TEST_F(SearchTest, WithoutAModelItFollowsTheParams) {
    EXPECT_GT(run(), 0.99);
    EXPECT_LE(order_.size(), configs_.size() / 2);
    // Every variant is tried by its default params before anything else.
    for (std::size_t i = 1; i < 3; ++i) EXPECT_TRUE(configs_[order_[i]].standard) << order_[i];
}

TEST_F(SearchTest, FromAMisleadingModelItRecovers) {
    for (std::size_t i = 0; i < configs_.size(); ++i) {
        configs_[i].log_us = 2 * std::log(best_us_) - std::log(us_[i]);
        configs_[i].sigma = 0.1;
    }
    EXPECT_LT(best_us_ / us_[default_], 0.5);
    EXPECT_GT(run(), 0.94);
    EXPECT_LT(order_.size(), configs_.size() / 2);
}

TEST_F(SearchTest, AConfigThatTheModelDoesNotKnowIsFound) {
    // The third variant, which has the fastest, is new.
    predict(0, 0.05, 0.02);
    for (std::size_t i = 128; i < configs_.size(); ++i) configs_[i].log_us.reset();
    EXPECT_GT(run(), 0.99);
}

TEST_F(SearchTest, ALimitCountsWhatWasToldBefore) {
    predict(0, 0.1, 0.05);
    SearchOptions options;
    options.most = 3;
    run(options);
    EXPECT_EQ(order_.size(), 3u);

    Search search(configs_, options);
    search.tell(7, us_[7]);
    search.tell_unusable(9);
    EXPECT_EQ(search.left(), 1u);
    EXPECT_EQ(search.next(), std::vector<std::size_t>{default_});
    search.tell(default_, us_[default_]);
    EXPECT_TRUE(search.next().empty());
}

TEST_F(SearchTest, WhatWasToldInAnotherOrderEndsItAllTheSame) {
    predict(0.2, 0.1, 0.05);
    run();
    Search resumed(configs_);
    std::vector<std::size_t> known = order_;
    std::sort(known.begin(), known.end());
    for (const std::size_t i : known) resumed.tell(i, us_[i]);
    EXPECT_LE(resumed.next().size(), 1u);
}

TEST_F(SearchTest, WhatCannotBeChosenIsNeitherProposedNorBeaten) {
    predict(0, 0.05, 0.02);
    for (std::size_t i = 128; i < configs_.size(); ++i) configs_[i].may_win = false;
    best_us_ = *std::min_element(us_.begin(), us_.begin() + 128);
    EXPECT_GT(run(), 0.99);
    for (const std::size_t i : order_) EXPECT_LT(i, 128u);

    // A fast config that turns out to break a constraint does not end the search.
    Search search(configs_);
    const auto fast = static_cast<std::size_t>(std::min_element(us_.begin(), us_.end()) - us_.begin());
    search.tell(fast, us_[fast] / 10, false);
    search.tell(default_, us_[default_]);
    EXPECT_FALSE(search.next().empty());
}

// The fastest of all, as was predicted, breaks a constraint: what is slower is looked for all the same.
TEST_F(SearchTest, WhatCannotBeChosenIsNotWhatOthersHaveToBeat) {
    us_[20] = 0.8 * best_us_;
    predict(0, 0.02, 0.01);
    Search search(configs_);
    search.tell(default_, us_[default_]);
    search.tell(20, us_[20], false);
    double fastest = us_[default_];
    for (auto group = search.next(); !group.empty(); group = search.next()) {
        for (const std::size_t i : group) {
            search.tell(i, us_[i]);
            fastest = std::min(fastest, us_[i]);
        }
    }
    EXPECT_GT(best_us_ / fastest, 0.99);
}

TEST_F(SearchTest, IsDeterministic) {
    predict(0.1, 0.1, 0.1);
    run();
    const auto first = order_;
    run();
    EXPECT_EQ(order_, first);
}

TEST_F(SearchTest, NothingToMeasureIsNoSearch) {
    EXPECT_TRUE(Search({}).next().empty());
    SearchConfig only;
    only.config.variant = "spmm.v0";
    Search search({only});
    EXPECT_EQ(search.next().size(), 1u);
    search.tell_unusable(0);
    EXPECT_TRUE(search.next().empty());
}

}  // namespace
}  // namespace gnntune::tuner
