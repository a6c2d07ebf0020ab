#include "core/generate/degrees.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/common/error.hpp"

namespace gnntune::generate {

namespace {

constexpr double kOne = 65536;  // fixed point

std::uint64_t fixed(double degree) {
    return static_cast<std::uint64_t>(std::llround(degree * kOne));
}

/// Mean of the density x^-g on [low, high], g neither 1 nor 2.
double power_law_mean(double low, double high, double g) {
    return (1 - g) / (2 - g) * (std::pow(high, 2 - g) - std::pow(low, 2 - g)) /
           (std::pow(high, 1 - g) - std::pow(low, 1 - g));
}

struct Quantile {
    double share;
    double degree;
};

Error quantile_error(const std::string& text, const std::string& what) {
    return invalid_argument(
        "quantiles '" + text + "': " + what +
        "; expected pairs 'share:degree' of rising shares from 0 to 1 and degrees that do not fall");
}

std::vector<Quantile> parse_quantiles(const std::string& text) {
    std::vector<Quantile> quantiles;
    const char* p = text.data();
    const char* end = p + text.size();
    while (true) {
        while (p != end && (*p == ' ' || *p == ',')) ++p;
        if (p == end) break;
        Quantile q{};
        const auto share = std::from_chars(p, end, q.share);
        if (share.ec != std::errc() || share.ptr == end || *share.ptr != ':') {
            throw quantile_error(text, "cannot read pair " + std::to_string(quantiles.size() + 1));
        }
        const auto degree = std::from_chars(share.ptr + 1, end, q.degree);
        if (degree.ec != std::errc() || !(q.degree >= 0 && q.degree < 0x1p31)) {
            throw quantile_error(text, "cannot read pair " + std::to_string(quantiles.size() + 1));
        }
        if (!quantiles.empty() && !(q.share > quantiles.back().share && q.degree >= quantiles.back().degree)) {
            throw quantile_error(text, "pair " + std::to_string(quantiles.size() + 1) + " is out of order");
        }
        quantiles.push_back(q);
        p = degree.ptr;
    }
    if (quantiles.size() < 2 || quantiles.front().share != 0 || quantiles.back().share != 1) {
        throw quantile_error(text, "the first share is not 0 or the last is not 1");
    }
    if (quantiles.back().degree <= 0) throw quantile_error(text, "no degree is above 0");
    return quantiles;
}

}  // namespace

Weights power_law_degrees(std::int32_t n, double mean, double exponent, double max_degree) {
    Weights degrees(static_cast<std::size_t>(n), 0);
    if (mean <= 0) return degrees;
    // The closed forms have poles at 1 and 2; a distribution next to them is as good.
    double g = exponent;
    if (std::fabs(g - 2) < 1e-4) g = 2.0001;
    double low = mean * 1e-9;
    double high = mean;
    for (int i = 0; i < 100; ++i) {
        const double middle = std::sqrt(low * high);
        (power_law_mean(middle, max_degree, g) < mean ? low : high) = middle;
    }
    const double at_low = std::pow(low, 1 - g);
    const double at_high = std::pow(max_degree, 1 - g);
#pragma omp parallel for
    for (std::int32_t i = 0; i < n; ++i) {
        const double u = (i + 0.5) / n;
        degrees[static_cast<std::size_t>(i)] = fixed(std::pow(at_low + u * (at_high - at_low), 1 / (1 - g)));
    }
    return degrees;
}

Weights quantile_degrees(std::int32_t n, double mean, const std::string& quantiles) {
    const std::vector<Quantile> q = parse_quantiles(quantiles);
    std::vector<double> degree(static_cast<std::size_t>(n));
    double sum = 0;
    std::size_t segment = 0;
    for (std::int32_t i = 0; i < n; ++i) {
        const double u = (i + 0.5) / n;
        while (q[segment + 1].share < u) ++segment;
        const double t = (u - q[segment].share) / (q[segment + 1].share - q[segment].share);
        const double low = std::log1p(q[segment].degree);
        degree[static_cast<std::size_t>(i)] = std::expm1(low + t * (std::log1p(q[segment + 1].degree) - low));
        sum += degree[static_cast<std::size_t>(i)];
    }
    const double scale = sum > 0 ? mean * n / sum : 0;
    Weights degrees(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < degrees.size(); ++i) degrees[i] = fixed(degree[i] * scale);
    return degrees;
}

std::vector<std::int64_t> apportion(std::int64_t total, const Weights& weights) {
    Uint128 sum = 0;
    for (const std::uint64_t w : weights) sum += w;
    const bool equal = sum == 0;
    if (equal) sum = weights.size();
    std::vector<std::int64_t> shares(weights.size());
    Uint128 running = 0;
    std::int64_t given = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        running += equal ? 1 : weights[i];
        const auto until = static_cast<std::int64_t>(running * static_cast<std::uint64_t>(total) / sum);
        shares[i] = until - given;
        given = until;
    }
    return shares;
}

void settle(std::vector<std::int64_t>& shares, const std::vector<std::int64_t>& capacity, Rng rng) {
    std::int64_t excess = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        excess += std::max<std::int64_t>(0, shares[i] - capacity[i]);
        shares[i] = std::min(shares[i], capacity[i]);
    }
    if (shares.empty()) return;
    // Rounds of equal gifts: each round either ends or fills at least one entry or hands out one apiece.
    std::size_t start = rng.below(std::uint64_t{shares.size()});
    while (excess > 0) {
        std::int64_t open = 0;
        for (std::size_t i = 0; i < shares.size(); ++i) open += shares[i] < capacity[i];
        if (open == 0) return;
        const std::int64_t gift = std::max<std::int64_t>(1, excess / open);
        for (std::size_t step = 0; step < shares.size() && excess > 0; ++step) {
            const std::size_t i = (start + step) % shares.size();
            const std::int64_t room = std::min({gift, capacity[i] - shares[i], excess});
            shares[i] += room;
            excess -= room;
        }
        start = rng.below(std::uint64_t{shares.size()});
    }
}

}  // namespace gnntune::generate
