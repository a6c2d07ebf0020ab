// Lists of edges, with and without self loops, and what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/edges/edge_list.hpp"

namespace gnntune::kernels {

template <typename Id>
struct EdgeListCase {
    std::vector<Id> sources, targets;
    std::int32_t loops = 0;
    bool has_loop = false;

    std::vector<std::int32_t> edges() const {
        std::vector<std::int32_t> all;
        for (const auto* ids : {&sources, &targets}) {
            for (const Id id : *ids) all.push_back(static_cast<std::int32_t>(id));
            const std::size_t first = all.size();
            all.resize(first + static_cast<std::size_t>(loops));
            std::iota(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), 0);
        }
        return all;
    }
};

/// f(case): sizes about those of blocks; one self loop at each end and in the middle, none, and nothing else.
template <typename Id, typename F>
void for_every_edge_list(const F& f) {
    constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max() - 1;
    for (const std::int64_t m : {0, 1, 2, 255, 256, 257, 16384, 16385, 100003}) {
        for (const std::int32_t loops : {0, 1, 255, 40000}) {
            for (const std::int64_t place : {std::int64_t{-1}, std::int64_t{0}, m / 2, m - 1}) {
                if (place >= m) continue;
                SCOPED_TRACE("m = " + std::to_string(m) + ", loops = " + std::to_string(loops) + ", a loop at " +
                             std::to_string(place));
                EdgeListCase<Id> list;
                list.loops = loops;
                list.has_loop = place >= 0;
                for (std::int64_t e = 0; e < m; ++e) {
                    list.sources.push_back(static_cast<Id>(e % 3 == 0 ? kLargest - e : e));
                    list.targets.push_back(static_cast<Id>(e == place ? list.sources.back() : kLargest / 2 + e % 7));
                }
                f(list);
            }
        }
    }
    EdgeListCase<Id> all;
    all.sources.assign(70000, static_cast<Id>(5));
    all.targets = all.sources;
    all.has_loop = true;
    f(all);
}

}  // namespace gnntune::kernels
