#include "core/generate/finish.hpp"

#include <algorithm>
#include <numeric>

#include "core/generate/degrees.hpp"
#include "core/generate/rng.hpp"

namespace gnntune::generate {

namespace {

std::vector<std::int32_t> permutation(std::int32_t n, Rng rng) {
    std::vector<std::int32_t> items(static_cast<std::size_t>(n));
    std::iota(items.begin(), items.end(), 0);
    shuffle_items(items, rng);
    return items;
}

/// One number per unordered pair.
std::uint64_t pair_key(std::int32_t i, std::int32_t j) {
    return static_cast<std::uint64_t>(std::min(i, j)) << 32 | static_cast<std::uint64_t>(std::max(i, j));
}

/// Whether the seed's pick for the pair is the direction (i, j).
bool keeps_direction(std::int32_t i, std::int32_t j, std::uint64_t seed) {
    return (Rng(seed, Purpose::orientation, pair_key(i, j)).next() >> 63 != 0) == (i < j);
}

/// row_ptr[i + 1] holds the length of row i on entry.
void lengths_to_row_ptr(HostVector<std::int32_t>& row_ptr) {
    row_ptr[0] = 0;
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
}

}  // namespace

Labels::Labels(std::int32_t n_rows, std::int32_t n_cols, bool same_vertices, bool shuffle, std::uint64_t seed) {
    if (!shuffle) return;
    row_slots_ = permutation(n_rows, Rng(seed, Purpose::labels, 0));
    if (!same_vertices) {
        column_labels_ = permutation(n_cols, Rng(seed, Purpose::column_labels, 0));
        return;
    }
    column_labels_.resize(row_slots_.size());
    for (std::int32_t label = 0; label < n_rows; ++label) {
        column_labels_[static_cast<std::size_t>(row_slots_[static_cast<std::size_t>(label)])] = label;
    }
}

CsrGraph with_both_directions(const CsrGraph& half) {
    const std::int32_t n = half.n_rows;
    CsrGraph full;
    full.n_rows = n;
    full.n_cols = n;
    full.row_ptr.resize(static_cast<std::size_t>(n) + 1);
    std::int32_t* length = full.row_ptr.data() + 1;
    const std::int32_t* row_ptr = half.row_ptr.data();
    const std::int32_t* col_idx = half.col_idx.data();
#pragma omp parallel for
    for (std::int32_t i = 0; i < n; ++i) length[i] = row_ptr[i + 1] - row_ptr[i];
#pragma omp parallel for
    for (std::int64_t e = 0; e < half.m(); ++e) {
#pragma omp atomic
        ++length[col_idx[e]];
    }
    lengths_to_row_ptr(full.row_ptr);

    // Row i receives its own entries at its start; the others claim places behind them, in any order: the sort below
    // sees the same set of columns whoever came first.
    full.col_idx.resize(2 * half.col_idx.size());
    std::int32_t* out = full.col_idx.data();
    HostVector<std::int32_t> cursor(static_cast<std::size_t>(n));
#pragma omp parallel for schedule(guided)
    for (std::int32_t i = 0; i < n; ++i) {
        std::int32_t* end =
            std::copy(col_idx + row_ptr[i], col_idx + row_ptr[i + 1], out + full.row_ptr[static_cast<std::size_t>(i)]);
        cursor[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(end - out);
    }
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t e = row_ptr[i]; e < row_ptr[i + 1]; ++e) {
            std::int32_t& next = cursor[static_cast<std::size_t>(col_idx[e])];
            std::int32_t place = 0;
#pragma omp atomic capture
            place = next++;
            out[place] = i;
        }
    }
#pragma omp parallel for schedule(dynamic, 256)
    for (std::int32_t i = 0; i < n; ++i) {
        std::sort(out + full.row_ptr[static_cast<std::size_t>(i)], out + full.row_ptr[static_cast<std::size_t>(i) + 1]);
    }
    return full;
}

CsrGraph graph_of_pairs(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs, bool symmetric,
                        std::uint64_t seed) {
    CsrGraph half;
    half.n_rows = n;
    half.n_cols = n;
    half.row_ptr.assign(static_cast<std::size_t>(n) + 1, 0);
    half.col_idx.resize(pairs.size());
    for (const auto& [i, j] : pairs) ++half.row_ptr[static_cast<std::size_t>(i) + 1];
    lengths_to_row_ptr(half.row_ptr);
    HostVector<std::int32_t> next(half.row_ptr.begin(), half.row_ptr.end());
    for (const auto& [i, j] : pairs) {
        half.col_idx[static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++)] = j;
    }
    CsrGraph full = with_both_directions(half);
    return symmetric ? std::move(full) : with_one_direction(full, seed);
}

CsrGraph with_one_direction(const CsrGraph& graph, std::uint64_t seed) {
    CsrGraph kept;
    kept.n_rows = graph.n_rows;
    kept.n_cols = graph.n_cols;
    kept.row_ptr.resize(graph.row_ptr.size());
    const auto for_kept = [&](std::int32_t i, auto visit) {
        const auto end = graph.row_ptr[static_cast<std::size_t>(i) + 1];
        for (auto e = graph.row_ptr[static_cast<std::size_t>(i)]; e < end; ++e) {
            const std::int32_t j = graph.col_idx[static_cast<std::size_t>(e)];
            if (keeps_direction(i, j, seed)) visit(j);
        }
    };
#pragma omp parallel for schedule(guided)
    for (std::int32_t i = 0; i < graph.n_rows; ++i) {
        std::int32_t length = 0;
        for_kept(i, [&](std::int32_t) { ++length; });
        kept.row_ptr[static_cast<std::size_t>(i) + 1] = length;
    }
    lengths_to_row_ptr(kept.row_ptr);
    kept.col_idx.resize(static_cast<std::size_t>(kept.row_ptr.back()));
#pragma omp parallel for schedule(guided)
    for (std::int32_t i = 0; i < graph.n_rows; ++i) {
        std::int32_t* out = kept.col_idx.data() + kept.row_ptr[static_cast<std::size_t>(i)];
        for_kept(i, [&](std::int32_t j) { *out++ = j; });
    }
    return kept;
}

void add_self_loops(CsrGraph& graph, std::int64_t count, std::uint64_t seed) {
    if (count == 0) return;
    const std::vector<std::int32_t> order = permutation(graph.n_rows, Rng(seed, Purpose::self_loops, 0));
    std::vector<std::uint8_t> has_loop(order.size(), 0);
    for (std::int64_t l = 0; l < count; ++l) {
        has_loop[static_cast<std::size_t>(order[static_cast<std::size_t>(l)])] = 1;
    }
    HostVector<std::int32_t> row_ptr(graph.row_ptr.size());
    for (std::size_t i = 0; i < has_loop.size(); ++i) {
        row_ptr[i + 1] = graph.row_ptr[i + 1] - graph.row_ptr[i] + has_loop[i];
    }
    lengths_to_row_ptr(row_ptr);
    HostVector<std::int32_t> col_idx(graph.col_idx.size() + static_cast<std::size_t>(count));
#pragma omp parallel for schedule(guided)
    for (std::int32_t i = 0; i < graph.n_rows; ++i) {
        const auto row = static_cast<std::size_t>(i);
        const std::int32_t* begin = graph.col_idx.data() + graph.row_ptr[row];
        const std::int32_t* end = graph.col_idx.data() + graph.row_ptr[row + 1];
        const std::int32_t* above = std::lower_bound(begin, end, i);
        std::int32_t* out = std::copy(begin, above, col_idx.data() + row_ptr[row]);
        if (has_loop[row]) *out++ = i;
        std::copy(above, end, out);
    }
    graph.row_ptr = std::move(row_ptr);
    graph.col_idx = std::move(col_idx);
}

void add_weights(CsrGraph& graph, bool symmetric, std::uint64_t seed) {
    graph.edge_weight.resize(graph.col_idx.size());
#pragma omp parallel for schedule(guided)
    for (std::int32_t i = 0; i < graph.n_rows; ++i) {
        const auto end = graph.row_ptr[static_cast<std::size_t>(i) + 1];
        for (auto e = graph.row_ptr[static_cast<std::size_t>(i)]; e < end; ++e) {
            const std::int32_t j = graph.col_idx[static_cast<std::size_t>(e)];
            const std::uint64_t directed = static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint64_t>(j);
            const std::uint64_t word = Rng(seed, Purpose::weights, symmetric ? pair_key(i, j) : directed).next();
            const auto odd = static_cast<std::int64_t>(word >> 40) * 2 + 1 - (1 << 24);
            graph.edge_weight[static_cast<std::size_t>(e)] = static_cast<float>(odd) * 0x1p-24f;
        }
    }
}

}  // namespace gnntune::generate
