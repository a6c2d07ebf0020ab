// What a variant can do, as data: which kinds of problems of its op, whatever the graph. `gnntune list variants` prints
// it, refusals are worded from it, the coverage table rests on it. What depends on the graph, on the device or on a width
// is the word of Variant::applicable.
#pragma once

#include <cstdint>
#include <string>

#include "core/common/enum_set.hpp"
#include "core/registry/op.hpp"

namespace gnntune {

/// Of something that a problem may have or lack.
enum class Takes : std::int32_t { no, yes, only };

/// Widest feature dimension: feature tiles then fit into grid.y for every legal shape, at any alignment.
inline constexpr std::int32_t kMaxFeatures = 1 << 20;

inline constexpr EnumSet<DType> kEveryStorage{DType::f32, DType::f16, DType::bf16};
inline constexpr EnumSet<Reduce> kEveryReduction{Reduce::sum, Reduce::mean, Reduce::max};

/// As it stands, a plain weighted sum in f32. What the variant's op does not have at all (a reduction of sddmm, weights of
/// attention) is asked for by no problem, and does not matter.
struct Capability {
    EnumSet<DType> storage{DType::f32};
    EnumSet<Reduce> reduce{Reduce::sum};
    EnumSet<Reduce> in_f32_only{};  ///< of `reduce`: what 16 bits would round
    Takes weights = Takes::yes;
    Takes self_loops = Takes::no;
    bool heads = false;  ///< several heads, of which each has its own weights, scores or results
    EnumSet<Direction> direction{Direction::forward, Direction::reversed};
    std::int64_t most_features = kMaxFeatures;  ///< of a row, all heads together

    bool operator==(const Capability&) const = default;
};

/// For one that leaves it to others: a composition that hands the problem on, a conversion, which has no features.
inline constexpr Capability kAnyKind{
    .storage = kEveryStorage, .reduce = kEveryReduction, .self_loops = Takes::yes, .heads = true};

/// What a variant of that capability lacks for the problem, in words; empty if nothing.
std::string lacking(const Capability& can, const Problem& problem);

}  // namespace gnntune
