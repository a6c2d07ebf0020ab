// Walker's alias method: one random word and one table entry per draw, whatever the weights. Built with integers only.
#pragma once

#include <cstdint>
#include <vector>

#include "core/common/host_vector.hpp"
#include "core/generate/degrees.hpp"
#include "core/generate/rng.hpp"

namespace gnntune::generate {

/// Tables for consecutive segments of one list of weights: segment s draws from [offsets[s], offsets[s + 1]).
class AliasTables {
public:
    AliasTables(const Weights& weights, std::vector<std::int64_t> offsets);

    /// An index of the segment with probability in proportion to its weight; uniform where all its weights are 0.
    /// The segment must not be empty.
    std::int32_t draw(std::size_t segment, Rng& rng) const {
        const std::int64_t first = offsets_[segment];
        const auto size = static_cast<std::uint64_t>(offsets_[segment + 1] - first);
        const std::uint64_t word = rng.next();
        // High half: which entry. Low half: the entry or its alias.
        const auto index = first + static_cast<std::int64_t>(((word >> 32) * size) >> 32);
        const Entry& entry = entries_[static_cast<std::size_t>(index)];
        return static_cast<std::uint32_t>(word) < entry.keep ? static_cast<std::int32_t>(index) : entry.alias;
    }

private:
    struct Entry {
        std::uint32_t keep;  ///< probability of the entry itself, in units of 2^-32
        std::int32_t alias;  ///< itself where the probability is 1
    };
    void build(const Weights& weights, std::int64_t first, std::int64_t last);

    std::vector<std::int64_t> offsets_;
    HostVector<Entry> entries_;
};

}  // namespace gnntune::generate
