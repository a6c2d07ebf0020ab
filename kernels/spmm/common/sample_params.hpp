// Params that every sampling variant has in common: how they become a SampleRule, which of them are legal, and which
// are worth a place in the space that the tuner searches.
//
// A params struct P of a sampling variant has `int S` and `int rescale`, and with FastRand `int prime` and
// `int second_prime`; one that offers both samplings has `int sampling`, a SampleKind.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/graph/sample.hpp"
#include "core/registry/sampled.hpp"
#include "kernels/common/host.hpp"
#include "kernels/common/typed_variant.hpp"

namespace gnntune::kernels {

/// Values of the params. The first prime is the paper's (section IV-D); the others are those of its later code.
inline const std::vector<int> kSampleWidths{8, 16, 32, 64, 128, 256, 512, 1024, 2048};
inline const std::vector<int> kSamplePrimes{577, 769, 983, 1193, 1429};
inline const std::vector<int> kSecondPrimes{0, 769, 1193};
inline const std::vector<std::string_view> kSampleKinds{"bucket", "fastrand"};  // in the order of SampleKind

/// The sample that params `p` of a variant name; `kind` where the variant does one kind only.
template <typename P>
SampleRule rule_of(const P& p, SampleKind kind = SampleKind::bucket) {
    SampleRule rule;
    rule.kind = kind;
    if constexpr (requires { p.sampling; }) rule.kind = static_cast<SampleKind>(p.sampling);
    rule.width = p.S;
    rule.rescale = p.rescale != 0;
    if constexpr (requires { p.prime; }) {
        rule.prime = p.prime;
        rule.second_prime = p.second_prime;
    }
    return rule;
}

/// Refuses primes that cannot act.
inline Verdict require_useful_rule(const SampleRule& rule) {
    const SampleRule standard;
    if (rule.kind == SampleKind::bucket &&
        (rule.prime != standard.prime || rule.second_prime != standard.second_prime)) {
        return Verdict::no("a bucket uses no prime: leave prime and second_prime at their defaults");
    }
    if (rule.prime == rule.second_prime) return Verdict::no("second_prime must differ from prime");
    return Verdict::yes();
}

/// In how many ways a rule departs from the paper's.
inline int departures(const SampleRule& rule) {
    const SampleRule standard;
    return (rule.prime != standard.prime ? 1 : 0) + (rule.second_prime != standard.second_prime ? 1 : 0) +
           (rule.rescale ? 1 : 0);
}

/// Whether a tuner should try this rule. Rescaling and other primes change the error and not the time, so that one of
/// each stands in the space, at the width `standard_width`, and the others are for callers to name. Widths above the
/// first that keeps every edge of this graph only repeat that one.
inline bool worth_searching(const Query& q, const SampleRule& rule, int standard_width) {
    if (departures(rule) > (rule.width == standard_width ? 1 : 0)) return false;
    if (rule.prime > kSamplePrimes[1] || rule.second_prime > kSecondPrimes[1]) return false;
    const bool known = q.features && q.problem.direction == Direction::forward;
    return !known || rule.width <= standard_width || rule.width / 2 < q.features->degree_max;
}

/// What sampling variants of spmm can do in every storage type: a sample is summed or averaged, self loops are added to it.
inline constexpr Capability kSampledSpmm{
    .storage = kEveryStorage, .reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};

/// Cost of a kernel that gathers the sampled edges only.
inline CostTerms sampled_cost(const Query& q, const SampleRule& rule) {
    Query sampled = q;
    sampled.m = static_cast<std::int64_t>(sampled_edges(q, rule));
    sampled.features = nullptr;  // they describe the whole graph
    return gather_cost(sampled, csr_bytes(sampled));
}

}  // namespace gnntune::kernels
