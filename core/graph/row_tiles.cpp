#include "core/graph/row_tiles.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "core/common/error.hpp"
#include "core/common/team.hpp"
#include "core/graph/fingerprint_mix.hpp"

namespace gnntune {
namespace {

constexpr std::int64_t kBlock = std::int64_t{1} << 16;  // elements that a thread takes at a time

/// The first of n places at which bad(place) holds; n if there is none. On all threads.
template <typename Bad>
std::int64_t first_bad(std::int64_t n, const Bad& bad) {
    std::atomic<std::int64_t> first = n;
    const std::int64_t blocks = (n + kBlock - 1) / kBlock;
    team_for_each(blocks, 1, n, [&](std::int64_t b) {
        if (b * kBlock >= first.load(std::memory_order_relaxed)) return;
        const std::int64_t end = std::min(n, (b + 1) * kBlock);
        for (std::int64_t i = b * kBlock; i < end; ++i) {
            if (!bad(i)) continue;
            std::int64_t known = first.load();
            while (i < known && !first.compare_exchange_weak(known, i)) {
            }
            return;
        }
    });
    return first;
}

std::string of(std::int64_t number) {
    return std::to_string(number);
}

}  // namespace

void validate_offsets(const WideCsrView& csr) {
    if (csr.m > 0 && !csr.col_idx) throw input_error("CSR graph: col_idx must not be null");
    if (!csr.row_ptr) throw input_error("CSR graph: row_ptr must not be null");
    if (csr.offset(0) != 0) throw input_error("CSR graph: row_ptr[0] is " + of(csr.offset(0)) + ", expected 0");
    const std::int64_t fall = first_bad(csr.n_rows, [&](std::int64_t i) { return csr.offset(i + 1) < csr.offset(i); });
    if (fall < csr.n_rows) {
        throw input_error("CSR graph: row_ptr falls from " + of(csr.offset(fall)) + " to " + of(csr.offset(fall + 1)) +
                          " at row " + of(fall));
    }
    if (csr.offset(csr.n_rows) != csr.m) {
        throw input_error("CSR graph: row_ptr ends at " + of(csr.offset(csr.n_rows)) + ", expected the " + of(csr.m) +
                          " edges of col_idx");
    }
}

void validate_ids(const WideCsrView& csr) {
    const std::int64_t bad = first_bad(csr.m, [&](std::int64_t e) {
        const std::int64_t id = csr.id(e);
        return id < 0 || id >= csr.n_cols;
    });
    if (bad < csr.m) {
        throw input_error("CSR graph: col_idx[" + of(bad) + "] is " + of(csr.id(bad)) + ", expected 0 to " +
                          of(std::int64_t{csr.n_cols} - 1));
    }
}

std::vector<RowTile> cut_rows(const WideCsrView& csr, std::int64_t most_edges) {
    if (most_edges < 1 || most_edges > kMaxEdges) {
        throw invalid_argument("tiles of " + of(most_edges) + " edges: expected 1 to 2^31-1");
    }
    std::vector<RowTile> tiles;
    std::int64_t row = 0;
    while (row < csr.n_rows) {
        const std::int64_t begin = csr.offset(row);
        // The last row that ends within the limit; at least one row.
        std::int64_t low = row + 1;
        std::int64_t high = csr.n_rows;
        while (low < high) {
            const std::int64_t middle = low + (high - low + 1) / 2;
            if (csr.offset(middle) - begin <= most_edges) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        std::int64_t end = low;
        if (end < csr.n_rows && end / kTileRows * kTileRows > row) end = end / kTileRows * kTileRows;
        RowTile tile;
        tile.first_row = static_cast<std::int32_t>(row);
        tile.n_rows = static_cast<std::int32_t>(end - row);
        tile.first_edge = begin;
        tile.m = csr.offset(end) - begin;
        if (tile.m > kMaxEdges) {
            throw unsupported("row " + of(row) + " alone has " + of(tile.m) +
                              " edges, more than the 2^31-1 that a tile of rows holds; give its edges to several "
                              "vertices and add up their results");
        }
        tiles.push_back(tile);
        row = end;
    }
    team_for_each(static_cast<std::int64_t>(tiles.size()), 1, csr.n_rows, [&](std::int64_t t) {
        RowTile& tile = tiles[static_cast<std::size_t>(t)];
        std::int64_t longest = 0;
        const std::int64_t first = tile.first_row;
        for (std::int64_t i = first; i < first + tile.n_rows; ++i) {
            longest = std::max(longest, csr.offset(i + 1) - csr.offset(i));
        }
        tile.longest_row = static_cast<std::int32_t>(longest);
    });
    return tiles;
}

void copy_offsets(const WideCsrView& csr, const RowTile& tile, std::int32_t* out) {
    const std::int64_t n = std::int64_t{tile.n_rows} + 1;
    team_for_each((n + kBlock - 1) / kBlock, 1, n, [&](std::int64_t b) {
        for (std::int64_t i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i) {
            out[i] = static_cast<std::int32_t>(csr.offset(tile.first_row + i) - tile.first_edge);
        }
    });
}

void copy_ids(const WideCsrView& csr, std::int64_t first, std::int64_t count, std::int32_t* out) {
    if (!csr.wide_ids) {
        copy_bytes(static_cast<const std::int32_t*>(csr.col_idx) + first, static_cast<std::size_t>(count) * 4, out);
        return;
    }
    const auto* wide = static_cast<const std::int64_t*>(csr.col_idx) + first;
    team_for_each((count + kBlock - 1) / kBlock, 1, count, [&](std::int64_t b) {
        for (std::int64_t i = b * kBlock; i < std::min(count, (b + 1) * kBlock); ++i) {
            out[i] = static_cast<std::int32_t>(wide[i]);
        }
    });
}

void copy_bytes(const void* from, std::size_t bytes, void* to) {
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    const auto pieces = static_cast<std::int64_t>((bytes + kPiece - 1) / kPiece);
    team_for_each(pieces, 1, static_cast<std::int64_t>(bytes / 4), [&](std::int64_t p) {
        const std::size_t begin = static_cast<std::size_t>(p) * kPiece;
        std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                    std::min(kPiece, bytes - begin));
    });
}

FingerprintSums fingerprint_sums(const WideCsrView& csr, const RowTile& tile) {
    using namespace fingerprint_detail;
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;
    const auto add_row = [&](std::int64_t i, std::uint64_t& l, std::uint64_t& h) {
        const auto row = static_cast<std::int32_t>(i);
        for (std::int64_t e = csr.offset(i); e < csr.offset(i + 1); ++e) {
            const auto col = static_cast<std::int32_t>(csr.id(e));
            l += edge_term(row, col, kSeedLo);
            h += edge_term(row, col, kSeedHi);
        }
    };
    const std::int64_t begin = tile.first_row;
    const std::int64_t end = begin + tile.n_rows;
    if (team_for(tile.m) == 1) {
        for (std::int64_t i = begin; i < end; ++i) add_row(i, lo, hi);
    } else {
#pragma omp parallel for schedule(guided) reduction(+ : lo, hi)
        for (std::int64_t i = begin; i < end; ++i) add_row(i, lo, hi);
    }
    return {hi, lo};
}

Fingerprint fingerprint(const WideCsrView& csr) {
    FingerprintSums sums;
    for (const RowTile& tile : cut_rows(csr, kMaxEdges)) sums += fingerprint_sums(csr, tile);
    return finished(sums, csr.n_rows, csr.n_cols, csr.m);
}

}  // namespace gnntune
