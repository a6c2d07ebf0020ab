// The conversions, from the definition: write the caller's list down, sort it stably, count. Nothing here is shared with
// the conversions of core/graph, which are among what is checked.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/reference/oracle.hpp"

namespace gnntune::reference {

inline Oracle exact(std::vector<std::int32_t> expected) {
    Oracle out;
    out.index = true;
    out.value.assign(expected.begin(), expected.end());
    out.scale.resize(expected.size());
    std::fill(out.scale.begin(), out.scale.end(), 0.0F);
    out.chain.assign(1, 0);
    out.row_width = std::max<std::int64_t>(out.size(), 1);
    return out;
}

/// Offsets, other ends and names of a list of edges, grouped by key, each group in the order of the list.
inline std::vector<Oracle> grouped(std::int32_t n_keys, const std::vector<std::int32_t>& key,
                                   const std::vector<std::int32_t>& other, const std::vector<std::int32_t>& name) {
    std::vector<std::size_t> order(key.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key[a] < key[b]; });
    std::vector<std::int32_t> ptr(static_cast<std::size_t>(n_keys) + 1, 0);
    for (const std::int32_t k : key) ++ptr[static_cast<std::size_t>(k) + 1];
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    std::vector<std::int32_t> idx;
    std::vector<std::int32_t> id;
    for (const std::size_t e : order) {
        idx.push_back(other[e]);
        id.push_back(name[e]);
    }
    std::vector<Oracle> all;
    all.push_back(exact(std::move(ptr)));
    all.push_back(exact(std::move(idx)));
    all.push_back(exact(std::move(id)));
    return all;
}

}  // namespace gnntune::reference
