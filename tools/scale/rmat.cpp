#include "tools/scale/rmat.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gnntune::scale {
namespace {

std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/// SplitMix64: a stream of its own for each row.
class Random {
public:
    Random(std::uint64_t seed, std::uint64_t stream) : state_(mixed(seed * 0x9e3779b97f4a7c15ull + stream)) {}
    std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15ull); }
    /// In (0, 1).
    double unit() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }

private:
    std::uint64_t state_;
};

/// A bijection of [0, 2^scale).
std::uint32_t shuffled(std::uint32_t id, int scale, std::uint64_t seed) {
    const std::uint32_t mask = (scale == 32) ? ~0u : (1u << scale) - 1;
    const auto odd = static_cast<std::uint32_t>(mixed(seed) | 1);
    const int half = (scale + 1) / 2;
    for (int round = 0; round < 3; ++round) {
        id = (id * odd) & mask;
        id ^= id >> half;
    }
    return id;
}

/// 32 bits, each 1 with probability `threshold` / 2^16. Bit by bit of the threshold from its lowest 1 on: an AND with a
/// fair bit halves a probability, an OR halves what is left to 1.
std::uint32_t biased_bits(Random& random, std::uint32_t threshold) {
    std::uint32_t bits = 0;
    std::uint64_t pair = 0;
    bool left = false;
    int step = 0;
    while (step < 16 && (threshold >> step & 1u) == 0) ++step;
    for (; step < 16; ++step) {
        if (!left) pair = random.next();
        const auto fair = static_cast<std::uint32_t>(left ? pair >> 32 : pair);
        left = !left;
        bits = (threshold >> step & 1u) != 0 ? bits | fair : bits & fair;
    }
    return bits;
}

std::uint32_t threshold_of(double probability) {
    return static_cast<std::uint32_t>(std::lround(probability * 65536));
}

std::int64_t poisson(Random& random, double mean) {
    if (mean > 64) {
        // The normal distribution, which from here on is near enough for degrees.
        const double radius = std::sqrt(-2 * std::log(random.unit()));
        const double normal = radius * std::cos(2 * std::numbers::pi * random.unit());
        return std::max<std::int64_t>(0, std::llround(mean + std::sqrt(mean) * normal));
    }
    const double limit = std::exp(-mean);
    std::int64_t count = 0;
    for (double product = random.unit(); product > limit; product *= random.unit()) ++count;
    return count;
}

constexpr std::uint64_t kRowSeed = 101;
constexpr std::uint64_t kColumnSeed = 202;

std::uint32_t bits_of_row(const Rmat& rmat, std::int64_t row) {
    return shuffled(static_cast<std::uint32_t>(row), rmat.scale, rmat.seed + kRowSeed);
}

}  // namespace

std::vector<std::int64_t> row_offsets(const Rmat& rmat) {
    const std::int64_t n = rmat.n();
    std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(n) + 1);
    // Expected edges of a row by the ones among its bits.
    std::vector<double> means;
    const double one = 1 - rmat.a - rmat.b;
    for (int ones = 0; ones <= rmat.scale; ++ones) {
        means.push_back(static_cast<double>(rmat.edges) * std::pow(one, ones) * std::pow(1 - one, rmat.scale - ones));
    }
#pragma omp parallel for schedule(dynamic, 65536)
    for (std::int64_t row = 0; row < n; ++row) {
        Random random(rmat.seed, 2 * static_cast<std::uint64_t>(row));
        const auto ones = static_cast<std::size_t>(__builtin_popcount(bits_of_row(rmat, row)));
        row_ptr[static_cast<std::size_t>(row) + 1] = poisson(random, means[ones]);
    }
    for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row) row_ptr[row + 1] += row_ptr[row];
    return row_ptr;
}

void fill_columns(const Rmat& rmat, const std::vector<std::int64_t>& row_ptr, std::int32_t* col_idx) {
    const std::uint32_t beside_zero = threshold_of(rmat.b / (rmat.a + rmat.b));
    const std::uint32_t beside_one = threshold_of((1 - rmat.a - rmat.b - rmat.c) / (1 - rmat.a - rmat.b));
    const auto mask = static_cast<std::uint32_t>(rmat.n() - 1);
#pragma omp parallel for schedule(dynamic, 4096)
    for (std::int64_t row = 0; row < rmat.n(); ++row) {
        Random random(rmat.seed, 2 * static_cast<std::uint64_t>(row) + 1);
        const std::uint32_t bits = bits_of_row(rmat, row);
        for (std::int64_t e = row_ptr[static_cast<std::size_t>(row)]; e < row_ptr[static_cast<std::size_t>(row) + 1];
             ++e) {
            const std::uint32_t column =
                ((biased_bits(random, beside_zero) & ~bits) | (biased_bits(random, beside_one) & bits)) & mask;
            col_idx[e] = static_cast<std::int32_t>(shuffled(column, rmat.scale, rmat.seed + kColumnSeed));
        }
    }
}

float value_at(std::uint64_t stream, std::uint64_t index) {
    const std::uint64_t bits = mixed(index * 0x9e3779b97f4a7c15ull + mixed(stream + 1));
    return static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (std::int64_t{1} << 23)) * 0x1p-23F;
}

}  // namespace gnntune::scale
