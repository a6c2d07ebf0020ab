// Which configs of a problem to measure next: the default first, then what a model and the measurements so far promise.
// Decides only: who measures tells it what came out.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/registry/config.hpp"

namespace gnntune::tuner {

/// A config that could be measured.
struct SearchConfig {
    Config config;
    bool first = false;  ///< measured before the others, promising or not: the default, and what ratios need
    /// Place among those that were fast in an environment much like this one: measured before all others, in this order.
    std::optional<std::size_t> recalled;
    bool may_win = true;           ///< false: it cannot be chosen, so that only `first` has it measured
    bool standard = false;         ///< its variant's default params: measured in any case if the model does not know it
    std::optional<double> log_us;  ///< natural logarithm of the predicted time; nothing: no model knows it
    double sigma = 0;              ///< standard deviation of that
};

struct SearchOptions {
    std::size_t most = 0;        ///< configs that are told in all; 0: no limit
    std::size_t group = 3;       ///< configs proposed at a time
    double least_gain = 0.0005;  ///< it ends when no config is expected to gain this share of the fastest time
};

/// A Gaussian process over the logarithms of the times. Its mean is the prediction. What a prediction is wrong by is
/// taken to be much the same for all configs of the problem, and the rest more alike within a variant and most alike
/// for like params. Where times surprise, predictions are trusted less. Before it ends, what lies beside the best in
/// one param has been measured, if it was expected near. Deterministic.
class Search {
public:
    explicit Search(std::vector<SearchConfig> configs, const SearchOptions& options = {});

    /// The time of a config, proposed or not; also of one that was given up early. `stands`: false if it turned out
    /// that it cannot be chosen.
    void tell(std::size_t config, double us, bool stands = true);
    /// A config that failed or was wrong.
    void tell_unusable(std::size_t config);

    /// Configs to measure now, most promising first. None: it is not worth going on, or the limit is reached. Each is
    /// to be told before the next call. Takes O(group x configs x told).
    std::vector<std::size_t> next() const;

    std::size_t told() const { return told_; }
    /// Configs that may still be told; SIZE_MAX without a limit.
    std::size_t left() const;

private:
    // Of every config, given those that were observed.
    struct Belief {
        std::vector<double> mean;
        std::vector<double> variance;
        std::vector<std::vector<double>> factors;  // covariance with each observation, given the ones before it
    };

    // How far times were from what was believed just before.
    struct Surprises {
        double squares = 0;  // in standard deviations
        double times = 0;
    };

    double prior_covariance(std::size_t a, std::size_t b) const;
    /// The belief once `config` is observed, but for the means, which move by the new factor for each standard
    /// deviation that the time is off. Returns that standard deviation.
    double update(Belief& belief, std::size_t config) const;
    double expected_gain(const Belief& belief, std::size_t config) const;
    /// Whether its params are a step from those of the best config, and its expected time is near.
    bool beside_best(std::size_t config) const;
    bool may_propose(std::size_t config) const { return open_[config] && configs_[config].may_win; }

    std::vector<SearchConfig> configs_;
    SearchOptions options_;
    std::vector<std::size_t> recalled_;       // in their order
    std::vector<std::size_t> order_;          // in which equally promising ones are tried
    std::vector<std::size_t> variant_;        // of each config
    std::vector<std::vector<double>> place_;  // of each config: where its params lie among those of its variant
    std::vector<bool> open_;
    Belief belief_;
    double best_log_us_;
    std::optional<std::size_t> best_;
    Surprises surprises_;  // of all
    std::vector<Surprises> of_variant_;
    std::size_t told_ = 0;
};

}  // namespace gnntune::tuner
