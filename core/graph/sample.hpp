// Which edges of a row a sampling kernel uses: ES-SpMM's Bucket and FastRand (paper, section III-C and equation 2).
#pragma once

#include <cstdint>

#include "core/common/host_device.hpp"
#include "core/graph/types.hpp"

namespace gnntune {

enum class SampleKind : std::int32_t {
    bucket,    ///< the first min(degree, width) edges
    fastrand,  ///< edge (i * prime) mod degree for i = 0 .. width - 1; all edges in order where degree < width
};

/// A row of `degree` edges keeps sampled_count(rule, degree) of them. width * prime is below 2^32, for both primes.
struct SampleRule {
    SampleKind kind = SampleKind::bucket;
    std::int32_t width = 0;         ///< S of the paper; at least 1
    std::int32_t prime = 577;       ///< P' of equation 2
    std::int32_t second_prime = 0;  ///< used instead where `prime` divides the degree; 0: never
    bool rescale = false;           ///< sums are multiplied by degree / sampled_count

    bool operator==(const SampleRule&) const = default;
};

GNNTUNE_HOST_DEVICE inline std::int32_t sampled_count(const SampleRule& rule, std::int32_t degree) {
    return degree < rule.width ? degree : rule.width;
}

/// The sample of one row: what does not depend on the edge is found once, since divisions cost a GPU more than gathers.
struct RowSample {
    std::int32_t count;   ///< edges kept
    std::uint32_t prime;  ///< of equation 2; 0: edges in order
    std::uint32_t degree;

    /// Position inside the row, in [0, degree), of sample `i` in [0, count). Positions may repeat (equation 2).
    GNNTUNE_HOST_DEVICE std::int32_t position(std::int32_t i) const {
        return prime == 0 ? i : static_cast<std::int32_t>(static_cast<std::uint32_t>(i) * prime % degree);
    }
};

/// The whole row is taken in order where width exceeds its degree (section IV-B). At degree = width equation 2 holds
/// already, as in the paper's code: every edge once, in another order, unless the prime divides the degree.
GNNTUNE_HOST_DEVICE inline RowSample sample_row(const SampleRule& rule, std::int32_t degree) {
    RowSample row{sampled_count(rule, degree), 0, static_cast<std::uint32_t>(degree)};
    if (rule.kind == SampleKind::fastrand && degree >= rule.width) {
        const bool second = rule.second_prime != 0 && degree % rule.prime == 0;
        row.prime = static_cast<std::uint32_t>(second ? rule.second_prime : rule.prime);
    }
    return row;
}

/// What a sampled sum of a row of `degree` edges is multiplied with.
GNNTUNE_HOST_DEVICE inline float sample_scale(const SampleRule& rule, std::int32_t degree) {
    return rule.rescale && degree > rule.width ? static_cast<float>(degree) / static_cast<float>(rule.width) : 1.0F;
}

/// The sampled graph: its rows hold the kept edges in the order of the samples, `position` [m of the result] leads from
/// them to positions in `csr`. Host memory.
CsrGraph sample(const CsrView& csr, const SampleRule& rule, HostVector<std::int32_t>* position);

}  // namespace gnntune
