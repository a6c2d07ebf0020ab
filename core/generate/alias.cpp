#include "core/generate/alias.hpp"

#include <utility>

namespace gnntune::generate {

AliasTables::AliasTables(const Weights& weights, std::vector<std::int64_t> offsets)
    : offsets_(std::move(offsets)), entries_(weights.size()) {
    for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) build(weights, offsets_[s], offsets_[s + 1]);
}

void AliasTables::build(const Weights& weights, std::int64_t first, std::int64_t last) {
    Uint128 total = 0;
    for (std::int64_t i = first; i < last; ++i) total += weights[static_cast<std::size_t>(i)];
    // Vose: every entry holds probability 1 / size. `left` is what an entry still has to place, in units of total /
    // size.
    std::vector<Uint128> left(static_cast<std::size_t>(last - first));
    std::vector<std::int64_t> below;
    std::vector<std::int64_t> above;
    for (std::int64_t i = first; i < last; ++i) {
        entries_[static_cast<std::size_t>(i)] = {0xffffffffu, static_cast<std::int32_t>(i)};
        left[static_cast<std::size_t>(i - first)] = Uint128{weights[static_cast<std::size_t>(i)]} * left.size();
        (left[static_cast<std::size_t>(i - first)] < total ? below : above).push_back(i);
    }
    if (total == 0) return;
    while (!below.empty() && !above.empty()) {
        const std::int64_t small = below.back();
        const std::int64_t large = above.back();
        below.pop_back();
        const Uint128 share = left[static_cast<std::size_t>(small - first)];
        entries_[static_cast<std::size_t>(small)] = {static_cast<std::uint32_t>((share << 32) / total),
                                                     static_cast<std::int32_t>(large)};
        Uint128& rest = left[static_cast<std::size_t>(large - first)];
        rest -= total - share;
        if (rest < total) {
            above.pop_back();
            below.push_back(large);
        }
    }
}

}  // namespace gnntune::generate
