#include "tuner/measuring/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

#include "core/common/numbers.hpp"

namespace gnntune::tuner {
namespace {

// What a config that no model knows may be away from the others, as a standard deviation of the logarithm.
constexpr double kUnknownSigma = 0.5;
// The errors of predictions have heavy tails, heavier for graphs unlike those that were learnt from: how much wider
// than a model's average error on new graphs they are taken to be, up to what is taken where nothing is known.
constexpr double kWiden = 2.5;
// What all predictions of a problem may be wrong by.
constexpr double kLevelSigma = 1.0;
// Of a measured median.
constexpr double kNoise = 0.003;
// How the rest of a prediction's error divides: common to the problem, to the variant, to like params.
constexpr double kCommonShare = 0.1;
constexpr double kVariantShare = 0.2;
constexpr double kParamsShare = 0.7;
// Params are alike up to about so many steps; another word counts as several.
constexpr double kSteps = 1.5;
constexpr double kStepsOfWord = 3;
// A config so much slower than the best, as a logarithm, tells nothing by how much slower it is.
constexpr double kHopeless = 1;
// How much slower than the best, as a logarithm, what lies beside it may be expected to be and is measured all the
// same.
constexpr double kNear = 0.3;
// Times as expected, which the first surprises are averaged with.
constexpr double kCalmTimes = 4;

// Numbers are placed by their rank among the variant's values, words each in a direction of their own.
class Places {
public:
    explicit Places(const std::vector<SearchConfig>& configs) {
        for (const SearchConfig& c : configs) {
            for (const auto& [name, value] : c.config.params.values()) {
                Values& values = values_[c.config.variant][name];
                if (const auto v = parse_number<double>(value)) {
                    values.numbers.insert(*v);
                } else {
                    values.words.insert(value);
                }
            }
        }
    }

    std::vector<double> of(const Config& config) const {
        std::vector<double> out;
        const auto params = values_.find(config.variant);
        if (params == values_.end()) return out;  // it has none
        for (const auto& [name, values] : params->second) {
            const std::string* text = config.params.find(name);
            const auto value = text ? parse_number<double>(*text) : std::nullopt;
            const auto rank = value ? std::distance(values.numbers.begin(), values.numbers.find(*value)) : 0;
            out.push_back(static_cast<double>(rank));
            for (const std::string& word : values.words) {
                out.push_back(text && *text == word ? kStepsOfWord / std::numbers::sqrt2 : 0.0);
            }
        }
        return out;
    }

private:
    struct Values {
        std::set<double> numbers;
        std::set<std::string> words;
    };
    std::map<std::string, std::map<std::string, Values>> values_;  // of each variant's params
};

}  // namespace

Search::Search(std::vector<SearchConfig> configs, const SearchOptions& options)
    : configs_(std::move(configs)),
      options_(options),
      order_(configs_.size()),
      open_(configs_.size(), true),
      best_log_us_(std::numeric_limits<double>::infinity()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_partition(order_.begin(), order_.end(), [&](std::size_t i) { return configs_[i].standard; });
    for (std::size_t i = 0; i < configs_.size(); ++i) {
        if (configs_[i].recalled) recalled_.push_back(i);
    }
    std::sort(recalled_.begin(), recalled_.end(),
              [&](std::size_t a, std::size_t b) { return *configs_[a].recalled < *configs_[b].recalled; });
    const Places places(configs_);
    std::map<std::string, std::size_t> variants;
    double sum = 0;
    double known = 0;
    for (const SearchConfig& c : configs_) {
        variant_.push_back(variants.emplace(c.config.variant, variants.size()).first->second);
        place_.push_back(places.of(c.config));
        sum += c.log_us.value_or(0);
        known += c.log_us ? 1 : 0;
    }
    of_variant_.resize(variants.size());
    for (std::size_t i = 0; i < configs_.size(); ++i) {
        SearchConfig& c = configs_[i];
        c.sigma = c.log_us ? std::max(c.sigma, std::min(kWiden * c.sigma, kUnknownSigma)) : kUnknownSigma;
        belief_.mean.push_back(c.log_us ? *c.log_us : known > 0 ? sum / known : 0);
        belief_.variance.push_back(prior_covariance(i, i));
    }
}

double Search::prior_covariance(std::size_t a, std::size_t b) const {
    double share = kCommonShare;
    if (variant_[a] == variant_[b]) {
        double squares = 0;
        for (std::size_t p = 0; p < place_[a].size(); ++p) squares += std::pow(place_[a][p] - place_[b][p], 2);
        share += kVariantShare + kParamsShare * std::exp(-0.5 * squares / (kSteps * kSteps));
    }
    return kLevelSigma * kLevelSigma + share * configs_[a].sigma * configs_[b].sigma;
}

double Search::update(Belief& belief, std::size_t config) const {
    std::vector<double> factor(configs_.size());
    for (std::size_t i = 0; i < factor.size(); ++i) factor[i] = prior_covariance(config, i);
    for (const auto& earlier : belief.factors) {
        for (std::size_t i = 0; i < factor.size(); ++i) factor[i] -= earlier[config] * earlier[i];
    }
    const double deviation = std::sqrt(std::max(factor[config], 0.0) + kNoise * kNoise);
    for (std::size_t i = 0; i < factor.size(); ++i) {
        factor[i] /= deviation;
        belief.variance[i] = std::max(belief.variance[i] - factor[i] * factor[i], 0.0);
    }
    belief.factors.push_back(std::move(factor));
    return deviation;
}

void Search::tell(std::size_t config, double us, bool stands) {
    const double log_us = std::min(std::log(us), best_log_us_ + kHopeless);
    const double deviation = update(belief_, config);
    const double surprise = (log_us - belief_.mean[config]) / deviation;
    const std::vector<double>& factor = belief_.factors.back();
    for (std::size_t i = 0; i < factor.size(); ++i) belief_.mean[i] += factor[i] * surprise;
    // The first one tells the level, which was not predicted.
    if (belief_.factors.size() > 1) {
        for (Surprises* seen : {&surprises_, &of_variant_[variant_[config]]}) {
            seen->squares += surprise * surprise;
            seen->times += 1;
        }
    }
    if (stands && log_us < best_log_us_) best_log_us_ = log_us, best_ = config;
    open_[config] = false;
    ++told_;
}

void Search::tell_unusable(std::size_t config) {
    open_[config] = false;
    ++told_;
}

// E[max(0, best - time)] of the logarithms.
double Search::expected_gain(const Belief& belief, std::size_t config) const {
    const auto mean_square = [](const Surprises& seen) {
        return (kCalmTimes + seen.squares) / (kCalmTimes + seen.times);
    };
    const double grown = std::max({1.0, mean_square(surprises_), mean_square(of_variant_[variant_[config]])});
    const double sigma = std::sqrt(belief.variance[config] * grown);
    const double gain = best_log_us_ - belief.mean[config];
    if (sigma < 1e-9) return std::max(gain, 0.0);
    const double z = gain / sigma;
    return gain * 0.5 * std::erfc(-z / std::numbers::sqrt2) +
           sigma * std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
}

bool Search::beside_best(std::size_t config) const {
    if (!best_ || variant_[config] != variant_[*best_] || belief_.mean[config] > best_log_us_ + kNear) return false;
    double squares = 0;
    for (std::size_t p = 0; p < place_[config].size(); ++p) {
        squares += std::pow(place_[config][p] - place_[*best_][p], 2);
    }
    return squares < 1.5;  // one step of one number
}

std::size_t Search::left() const {
    if (options_.most == 0) return SIZE_MAX;
    return options_.most - std::min(options_.most, told_);
}

std::vector<std::size_t> Search::next() const {
    const std::size_t room = std::min(options_.group, left());
    std::vector<std::size_t> out;
    const auto propose_all = [&](const auto& wanted) {
        for (const std::size_t i : order_) {
            if (out.size() < room && open_[i] && wanted(configs_[i])) out.push_back(i);
        }
    };
    for (const std::size_t i : recalled_) {
        if (out.size() < room && open_[i]) out.push_back(i);
    }
    if (!out.empty()) return out;
    propose_all([](const SearchConfig& c) { return c.first; });
    // However far apart variants are that nothing is known of, each has had its turn.
    if (out.empty()) propose_all([](const SearchConfig& c) { return c.standard && c.may_win && !c.log_us; });
    if (!out.empty()) return out;
    Belief belief = belief_;
    while (out.size() < room) {
        double most = options_.least_gain;
        std::optional<std::size_t> best;
        for (const std::size_t i : order_) {
            if (!may_propose(i) || std::find(out.begin(), out.end(), i) != out.end()) continue;
            const double gain = expected_gain(belief, i);
            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        if (!best) break;
        out.push_back(*best);
        update(belief, *best);  // as if it came out as predicted
    }
    if (!out.empty()) return out;
    for (const std::size_t i : order_) {
        if (out.size() < room && may_propose(i) && beside_best(i)) out.push_back(i);
    }
    return out;
}

}  // namespace gnntune::tuner
