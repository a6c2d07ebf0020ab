// How a row of each random kind draws one column. A sampler has
//   draw(row, rng)  a column, or -1 for "draw again"
//   support(row)    the columns that can come up, as [begin, end); holds the row itself where the graph is symmetric
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/generate/alias.hpp"
#include "core/generate/rng.hpp"

namespace gnntune::generate {

struct Range {
    std::int32_t begin;
    std::int32_t end;
};

class UniformColumns {
public:
    explicit UniformColumns(std::int32_t n_cols) : n_cols_(n_cols) {}
    std::int32_t draw(std::int32_t, Rng& rng) const { return rng.below(n_cols_); }
    Range support(std::int32_t) const { return {0, n_cols_}; }

private:
    std::int32_t n_cols_;
};

class BandColumns {
public:
    BandColumns(std::int32_t n, std::int32_t bandwidth) : n_(n), bandwidth_(bandwidth) {}
    std::int32_t draw(std::int32_t row, Rng& rng) const {
        const Range range = support(row);
        return range.begin + rng.below(range.end - range.begin);
    }
    Range support(std::int32_t row) const {
        return {std::max(0, row - bandwidth_),
                static_cast<std::int32_t>(std::min<std::int64_t>(n_, std::int64_t{row} + bandwidth_ + 1))};
    }

private:
    std::int32_t n_;
    std::int32_t bandwidth_;
};

/// Columns by weight. With several communities (consecutive, of equal size), a share `within` of the draws stays inside
/// the row's own and the rest leaves it.
class WeightedColumns {
public:
    WeightedColumns(std::int32_t n_rows, const Weights& column_weights, std::int32_t communities, double within)
        : n_rows_(n_rows),
          n_cols_(static_cast<std::int32_t>(column_weights.size())),
          communities_(communities),
          leave_(communities > 1 ? threshold(1 - within) : 0),
          all_(column_weights, {0, n_cols_}),
          own_(column_weights, offsets(n_cols_, communities)) {}

    std::int32_t draw(std::int32_t row, Rng& rng) const {
        if (communities_ == 1) return all_.draw(0, rng);
        const std::int32_t community = community_of(row, n_rows_);
        if (rng.next() >= leave_) return own_.draw(static_cast<std::size_t>(community), rng);
        for (int tries = 0; tries < 64; ++tries) {
            const std::int32_t col = all_.draw(0, rng);
            if (community_of(col, n_cols_) != community) return col;
        }
        return -1;
    }
    Range support(std::int32_t row) const {
        if (communities_ == 1 || leave_ > 0) return {0, n_cols_};
        const std::int32_t community = community_of(row, n_rows_);
        return {first_of(community, n_cols_), first_of(community + 1, n_cols_)};
    }

private:
    std::int32_t first_of(std::int32_t community, std::int32_t n) const {
        return static_cast<std::int32_t>(std::int64_t{n} * community / communities_);
    }
    std::int32_t community_of(std::int32_t id, std::int32_t n) const {
        auto community = static_cast<std::int32_t>(std::int64_t{id} * communities_ / n);
        while (first_of(community + 1, n) <= id) ++community;
        return community;
    }
    static std::vector<std::int64_t> offsets(std::int32_t n, std::int32_t communities) {
        std::vector<std::int64_t> list;
        for (std::int64_t c = 0; c <= communities; ++c) list.push_back(n * c / communities);
        return list;
    }

    std::int32_t n_rows_;
    std::int32_t n_cols_;
    std::int32_t communities_;
    std::uint64_t leave_;
    AliasTables all_;
    AliasTables own_;
};

/// R-MAT by halves: bit by bit a row is drawn from the row sums of the quadrants, and a column given the row's bits.
/// Sixteen random bits settle one bit of an id.
class RmatColumns {
public:
    RmatColumns(std::int32_t n, double a, double b, double c) : n_(n) {
        while ((std::int64_t{1} << bits_) < n) ++bits_;
        const double d = std::max(0.0, 1 - a - b - c);
        row_one_ = share(c + d, 1);
        column_one_ = {share(b, a + b), share(d, c + d)};
    }
    std::int32_t draw_row(Rng& rng) const {
        for (int tries = 0; tries < 1000; ++tries) {
            const std::int64_t row = walk(rng, [&](int) { return row_one_; });
            if (row < n_) return static_cast<std::int32_t>(row);
        }
        return rng.below(n_);  // nearly all probability lies beyond n
    }
    std::int32_t draw(std::int32_t row, Rng& rng) const {
        const std::int64_t col =
            walk(rng, [&](int bit) { return column_one_[static_cast<std::size_t>(row >> bit & 1)]; });
        return col < n_ ? static_cast<std::int32_t>(col) : -1;
    }
    Range support(std::int32_t) const { return {0, n_}; }

private:
    static std::uint32_t share(double part, double whole) {
        return whole > 0 ? static_cast<std::uint32_t>(part / whole * 65536) : 0;
    }
    template <typename OneShare>
    std::int64_t walk(Rng& rng, OneShare one_share) const {
        std::int64_t id = 0;
        std::uint64_t word = 0;
        for (int bit = bits_ - 1, used = 0; bit >= 0; --bit, ++used) {
            word = used % 4 == 0 ? rng.next() : word >> 16;
            if ((word & 0xffff) < one_share(bit)) id |= std::int64_t{1} << bit;
        }
        return id;
    }

    std::int32_t n_;
    int bits_ = 0;
    std::uint32_t row_one_ = 0;
    std::array<std::uint32_t, 2> column_one_{};
};

}  // namespace gnntune::generate
