// Degree sequences, and sharing a total out in proportion to them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/common/host_vector.hpp"
#include "core/generate/rng.hpp"

namespace gnntune::generate {

/// Degrees as fixed-point weights, 16 bits after the point, so that sums and proportions are exact integers.
using Weights = std::vector<std::uint64_t>;

/// Degrees of mean `mean` from a power law of density x^-exponent cut off at `max_degree`, ascending. The lower cut-off
/// follows from the mean. Needs mean < max_degree.
Weights power_law_degrees(std::int32_t n, double mean, double exponent, double max_degree);

/// Degrees whose quantile function runs through 'share:degree' pairs, linear in log(1 + degree) between them, scaled to
/// `mean`, ascending. Throws ErrorKind::invalid_argument naming the pair that cannot be read.
Weights quantile_degrees(std::int32_t n, double mean, const std::string& quantiles);

/// Puts `items` in an order that depends on the generator alone (Fisher-Yates).
template <typename T>
void shuffle_items(std::vector<T>& items, Rng rng) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(std::uint64_t{i})]);
}

/// Whole shares of `total` in proportion to `weights`, exact in sum: share i is the difference of the rounded running
/// sums, so that it is off by less than one. All weights zero: equal shares.
std::vector<std::int64_t> apportion(std::int64_t total, const Weights& weights);

/// Moves what exceeds `capacity` to entries that have room, from a random start on. The sums must allow it.
void settle(std::vector<std::int64_t>& shares, const std::vector<std::int64_t>& capacity, Rng rng);

}  // namespace gnntune::generate
