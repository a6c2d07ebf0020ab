// From shares per row to a graph: every row draws its columns by itself, from its own stream of random numbers.
//
// Directed: row i draws share[i] distinct columns. Symmetric: every pair {i, j} has one owner (the checkerboard rule
// below), which alone may draw it, so rows stay independent, no pair comes up twice, and the number of pairs is exact;
// the other direction is added by a parallel counting sort. Rows of a graph that is to be shuffled are drawn in
// internal numbers
// ("slots") and written under their labels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/common/error.hpp"
#include "core/common/parallel_for.hpp"
#include "core/generate/degrees.hpp"
#include "core/generate/finish.hpp"
#include "core/generate/rng.hpp"
#include "core/generate/samplers.hpp"
#include "core/graph/types.hpp"

namespace gnntune::generate {

/// What the random kinds have in common.
struct Shape {
    std::int32_t n_rows = 0;
    std::int32_t n_cols = 0;
    std::int64_t draws = 0;     ///< entries to draw; pairs where symmetric. Without self loops.
    bool same_vertices = true;  ///< rows and columns are the same vertices: the diagonal is not drawn
    bool symmetric = false;
    bool duplicates = false;
    bool shuffle = false;
    std::uint64_t seed = 0;
};

/// Whether row i is the one that may draw the pair {i, j}: half of all j, above and below i alike.
inline bool owns(std::int32_t i, std::int32_t j) {
    return (((i ^ j) & 1) != 0) == (i < j);
}

/// Number of columns in `range` that `row` may draw.
inline std::int64_t candidates(const Shape& shape, std::int32_t row, Range range) {
    if (shape.symmetric) return (range.end - row) / 2 + (row - range.begin) / 2;
    const bool has_diagonal = shape.same_vertices && row >= range.begin && row < range.end;
    return std::int64_t{range.end} - range.begin - (has_diagonal ? 1 : 0);
}

/// Draws the columns of one row; keeps the scratch of one thread.
template <typename Sampler>
class RowDrawer {
public:
    RowDrawer(const Shape& shape, const Sampler& sampler)
        : shape_(shape), sampler_(sampler), seen_(static_cast<std::size_t>(shape.n_cols), -1) {}

    /// Writes `share` columns to `out`, unsorted. Needs share <= candidates, or any candidate with duplicates.
    void draw(std::int32_t row, std::int64_t share, std::int32_t* out) {
        row_ = row;
        out_ = out;
        missing_ = share;
        Rng rng(shape_.seed, Purpose::columns, static_cast<std::uint64_t>(row));
        const std::int64_t patience = shape_.symmetric ? 16 : 8;
        // As the sampler wishes ...
        for (std::int64_t tries = patience * share + 64; tries > 0 && missing_ > 0; --tries) {
            take(sampler_.draw(row, rng));
        }
        // ... then, where its favourites are used up, evenly over its support ...
        const Range range = sampler_.support(row);
        for (std::int64_t tries = patience * missing_ + 64; tries > 0 && missing_ > 0; --tries) {
            take(range.begin + rng.below(range.end - range.begin));
        }
        // ... then, where nearly all are taken, from a list of what is left.
        if (missing_ > 0) draw_from_rest(range, rng);
    }

private:
    bool may_take(std::int32_t col) const {
        if (col < 0 || (shape_.same_vertices && col == row_) || (shape_.symmetric && !owns(row_, col))) return false;
        return shape_.duplicates || seen_[static_cast<std::size_t>(col)] != row_;
    }
    void take(std::int32_t col) {
        if (!may_take(col)) return;
        seen_[static_cast<std::size_t>(col)] = row_;
        *out_++ = col;
        --missing_;
    }
    void draw_from_rest(Range range, Rng& rng) {
        rest_.clear();
        for (std::int32_t col = range.begin; col < range.end; ++col) {
            if (may_take(col)) rest_.push_back(col);
        }
        while (missing_ > 0 && !rest_.empty()) {
            const std::size_t pick = rng.below(std::uint64_t{rest_.size()});
            take(rest_[pick]);
            if (!shape_.duplicates) {
                rest_[pick] = rest_.back();
                rest_.pop_back();
            }
        }
    }

    const Shape& shape_;
    const Sampler& sampler_;
    HostVector<std::int32_t> seen_;  ///< last row that took the column; rows never clear it
    std::vector<std::int32_t> rest_;
    std::int32_t row_ = 0;
    std::int32_t* out_ = nullptr;
    std::int64_t missing_ = 0;
};

/// Shares per slot by `shape.draws` independent picks of a row, in parallel blocks with a stream each.
template <typename PickRow>
std::vector<std::int64_t> picked_shares(const Shape& shape, PickRow pick_row) {
    constexpr std::int64_t kBlock = 1 << 16;
    std::vector<std::int64_t> shares(static_cast<std::size_t>(shape.n_rows), 0);
    const std::int64_t blocks = (shape.draws + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < blocks; ++block) {
        Rng rng(shape.seed, Purpose::row_picks, static_cast<std::uint64_t>(block));
        const std::int64_t picks = std::min(kBlock, shape.draws - block * kBlock);
        for (std::int64_t p = 0; p < picks; ++p) {
            std::int64_t& share = shares[static_cast<std::size_t>(pick_row(rng))];
#pragma omp atomic
            ++share;
        }
    }
    return shares;
}

/// The graph, without self loops. `shares` (per slot, their sum is shape.draws) are first cut to what a row can hold.
template <typename Sampler>
CsrGraph draw_graph(const Shape& shape, std::vector<std::int64_t> shares, const Sampler& sampler) {
    std::vector<std::int64_t> capacity(shares.size());
    std::int64_t total = 0;
    for (std::int32_t row = 0; row < shape.n_rows; ++row) {
        std::int64_t& room = capacity[static_cast<std::size_t>(row)];
        room = candidates(shape, row, sampler.support(row));
        if (shape.duplicates && room > 0) room = kMaxEdges;
        total += room;
    }
    if (total < shape.draws) {
        const std::int64_t both = shape.symmetric ? 2 : 1;
        throw invalid_argument("m asks for " + std::to_string(both * shape.draws) +
                               " entries off the diagonal, but a graph of this kind and size holds at most " +
                               std::to_string(both * total) + "; lower m or raise the sizes");
    }
    settle(shares, capacity, Rng(shape.seed, Purpose::row_picks, ~std::uint64_t{0}));

    const Labels labels(shape.n_rows, shape.n_cols, shape.same_vertices, shape.shuffle, shape.seed);
    CsrGraph graph;
    graph.n_rows = shape.n_rows;
    graph.n_cols = shape.n_cols;
    graph.row_ptr.resize(shares.size() + 1);
    graph.row_ptr[0] = 0;
    for (std::int32_t row = 0; row < shape.n_rows; ++row) {
        graph.row_ptr[static_cast<std::size_t>(row) + 1] =
            graph.row_ptr[static_cast<std::size_t>(row)] +
            static_cast<std::int32_t>(shares[static_cast<std::size_t>(labels.row_slot(row))]);
    }
    graph.col_idx.resize(static_cast<std::size_t>(graph.row_ptr.back()));
    const auto make = [&] { return RowDrawer<Sampler>(shape, sampler); };
    parallel_for(shape.n_rows, 64, make, [&](std::int64_t at, RowDrawer<Sampler>& drawer) {
        const auto row = static_cast<std::int32_t>(at);
        std::int32_t* begin = graph.col_idx.data() + graph.row_ptr[static_cast<std::size_t>(row)];
        std::int32_t* end = graph.col_idx.data() + graph.row_ptr[static_cast<std::size_t>(row) + 1];
        drawer.draw(labels.row_slot(row), end - begin, begin);
        if (labels.shuffled()) {
            for (std::int32_t* col = begin; col != end; ++col) *col = labels.column_label(*col);
        }
        if (!shape.symmetric) std::sort(begin, end);
    });
    return shape.symmetric ? with_both_directions(graph) : graph;
}

}  // namespace gnntune::generate
