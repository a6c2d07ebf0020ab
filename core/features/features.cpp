#include "core/features/features.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/common/error.hpp"
#include "core/common/team.hpp"
#include "core/features/degree_histogram.hpp"

namespace gnntune {

namespace {

__extension__ typedef __int128 Int128;

constexpr std::int32_t kRowsPerWindow = 16;
constexpr std::int32_t kWindowsPerBlock = kBlockSide / kRowsPerWindow;
/// Scratch of all threads together; on very wide graphs fewer threads run rather than more memory being taken.
constexpr std::size_t kScratchBytes = std::size_t{2} << 30;

/// What one thread knows of one column. Both fields share a cache line, so an edge costs one miss.
struct ColumnState {
    std::int32_t window_8;  ///< last window of 8 rows that referred to the column; / 2 is the window of 16
    std::int32_t degree;    ///< edges of this thread's rows into the column
};

/// What one thread knows of one column of blocks.
struct BlockState {
    std::int32_t row;    ///< last row of blocks that referred to it
    std::int32_t edges;  ///< of that row
};

/// Memory that is written by its thread first, so that it lies near that thread and is not cleared by another.
template <typename T>
class Untouched {
public:
    explicit Untouched(std::size_t size) : items_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}
    void fill(const T& value) { std::fill_n(items_.get(), size_, value); }
    T& operator[](std::size_t i) { return items_[i]; }

private:
    std::unique_ptr<T[]> items_;
    std::size_t size_;
};

/// One thread's stamps. A stamp holds the last window that touched its column (or tile of columns), so that a window
/// starts with everything "unseen" without clearing anything: O(m) in all. Made before the threads start, since an
/// allocation that fails in one of them would end the process.
struct Scratch {
    explicit Scratch(std::int32_t n_cols)
        : columns(static_cast<std::size_t>(n_cols)),
          tile_8(static_cast<std::size_t>(n_cols) / 8 + 1),
          tile_16(static_cast<std::size_t>(n_cols) / 16 + 1),
          blocks(static_cast<std::size_t>(n_cols) / kBlockSide + 1),
          blocks_met(static_cast<std::size_t>(n_cols) / kBlockSide + 1) {}

    /// By the thread that uses it, once.
    void clear() {
        columns.fill({-1, 0});
        tile_8.fill(-1);
        tile_16.fill(-1);
        blocks.fill({-1, 0});
    }

    Untouched<ColumnState> columns;
    Untouched<std::int32_t> tile_8;
    Untouched<std::int32_t> tile_16;
    Untouched<BlockState> blocks;
    Untouched<std::int32_t> blocks_met;  ///< columns of the blocks that the current row of blocks has
    std::size_t met = 0;                 ///< how many
};

int thread_count(std::int32_t n_cols) {
    const std::size_t per_thread = static_cast<std::size_t>(n_cols) * (sizeof(ColumnState) + 1) + 1;
    const std::size_t affordable = std::max<std::size_t>(1, kScratchBytes / per_thread);
    return static_cast<int>(std::min(affordable, static_cast<std::size_t>(team_size())));
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// Counts one window of 16 rows into `c`; `c` is the calling thread's own.
void count_window(const CsrView& csr, std::int32_t window, Scratch& scratch, FeatureCounts& c) {
    const std::int64_t first_row = std::int64_t{window} * kRowsPerWindow;
    const std::int64_t end_row = std::min<std::int64_t>(first_row + kRowsPerWindow, csr.n_rows);
    const std::int32_t block_row = window / kWindowsPerBlock;
    std::int64_t distinct = 0;
    for (std::int64_t row = first_row; row < end_row; ++row) {
        const auto window_8 = static_cast<std::int32_t>(row / 8);
        for (std::int32_t e = csr.row_ptr[row]; e < csr.row_ptr[row + 1]; ++e) {
            const std::int32_t col = csr.col_idx[e];
            ColumnState& state = scratch.columns[static_cast<std::size_t>(col)];
            c.column_distance_sum += static_cast<std::uint64_t>(std::llabs(col - row));
            ++state.degree;
            BlockState& block = scratch.blocks[static_cast<std::size_t>(col / kBlockSide)];
            if (block.row != block_row) {
                block = {block_row, 0};
                scratch.blocks_met[scratch.met++] = col / kBlockSide;
            }
            ++block.edges;
            if (state.window_8 == window_8) continue;
            ++c.distinct_cols_8;
            // A negative stamp must not count as window 0: the shift keeps -1 at -1.
            if ((state.window_8 >> 1) != window) {
                ++distinct;
                std::int32_t& tile_8 = scratch.tile_8[static_cast<std::size_t>(col / 8)];
                std::int32_t& tile_16 = scratch.tile_16[static_cast<std::size_t>(col / 16)];
                c.tc_blocks_16x8 += tile_8 != window;
                c.tc_blocks_16x16 += tile_16 != window;
                tile_8 = window;
                tile_16 = window;
            }
            state.window_8 = window_8;
        }
    }
    c.distinct_cols_16 += distinct;
    c.sgt_blocks_16x8 += ceil_div(distinct, 8);
    c.sgt_blocks_16x16 += ceil_div(distinct, 16);
}

/// Counts one row of blocks into `c`.
void count_block_row(const CsrView& csr, std::int32_t block_row, Scratch& scratch, FeatureCounts& c) {
    scratch.met = 0;
    for (std::int32_t i = 0; i < kWindowsPerBlock; ++i) count_window(csr, block_row * kWindowsPerBlock + i, scratch, c);
    for (std::size_t b = 0; b < scratch.met; ++b) {
        const std::int32_t edges = scratch.blocks[static_cast<std::size_t>(scratch.blocks_met[b])].edges;
        for (std::size_t i = 0; i < kBlockEdges.size() && edges >= kBlockEdges[i]; ++i) {
            ++c.blocks_32x32[i].blocks;
            c.blocks_32x32[i].edges += edges;
        }
    }
}

void add(FeatureCounts& total, const FeatureCounts& part) {
    total.column_distance_sum += part.column_distance_sum;
    total.distinct_cols_8 += part.distinct_cols_8;
    total.distinct_cols_16 += part.distinct_cols_16;
    total.tc_blocks_16x8 += part.tc_blocks_16x8;
    total.tc_blocks_16x16 += part.tc_blocks_16x16;
    total.sgt_blocks_16x8 += part.sgt_blocks_16x8;
    total.sgt_blocks_16x16 += part.sgt_blocks_16x16;
    for (std::size_t i = 0; i < kBlockEdges.size(); ++i) {
        total.blocks_32x32[i].blocks += part.blocks_32x32[i].blocks;
        total.blocks_32x32[i].edges += part.blocks_32x32[i].edges;
    }
}

/// Smallest degree such that at least `percent` % of the rows have it or less.
std::int32_t degree_percentile(const FeatureCounts& counts, std::int64_t percent) {
    std::int64_t rows = 0;
    for (const auto& [degree, count] : counts.row_degrees) {
        rows += count;
        if (rows * 100 >= percent * counts.n_rows) return degree;
    }
    return 0;
}

/// Edges in the ceil(n_rows / 100) rows of highest degree.
std::int64_t edges_in_heaviest_rows(const FeatureCounts& counts) {
    std::int64_t rows_left = ceil_div(counts.n_rows, 100);
    std::int64_t edges = 0;
    for (auto it = counts.row_degrees.rbegin(); it != counts.row_degrees.rend() && rows_left > 0; ++it) {
        const std::int64_t rows = std::min(rows_left, it->second);
        edges += rows * it->first;
        rows_left -= rows;
    }
    return edges;
}

std::vector<DegreeClass> degree_classes(const std::vector<std::pair<std::int32_t, std::int64_t>>& histogram) {
    std::vector<DegreeClass> classes;
    for (const auto& [degree, count] : histogram) {
        const auto most = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint32_t>(degree)));
        const std::int64_t limit = degree == 0 ? 0 : most;
        if (classes.empty() || classes.back().most != limit) classes.push_back({limit, 0, 0});
        classes.back().rows += count;
        classes.back().edges += count * degree;
    }
    return classes;
}

}  // namespace

std::vector<std::pair<std::int32_t, std::int64_t>> degree_histogram(const std::int32_t* degree, std::size_t n) {
    constexpr std::int32_t kDense = 1 << 14;  // counted in a table; the few larger degrees are sorted
    std::vector<std::int64_t> small(kDense, 0);
    std::vector<std::int32_t> large;
    for (std::size_t i = 0; i < n; ++i) {
        if (degree[i] < kDense) {
            ++small[static_cast<std::size_t>(degree[i])];
        } else {
            large.push_back(degree[i]);
        }
    }
    std::vector<std::pair<std::int32_t, std::int64_t>> histogram;
    for (std::int32_t d = 0; d < kDense; ++d) {
        if (small[static_cast<std::size_t>(d)] > 0) histogram.emplace_back(d, small[static_cast<std::size_t>(d)]);
    }
    std::sort(large.begin(), large.end());
    for (const std::int32_t d : large) {
        if (histogram.empty() || histogram.back().first != d) histogram.emplace_back(d, 0);
        ++histogram.back().second;
    }
    return histogram;
}

FeatureCounts count_features(const CsrView& csr) {
    if (csr.space != MemorySpace::host) {
        throw invalid_argument(
            "count_features expects a graph in host memory; use count_features_gpu for device memory");
    }
    FeatureCounts counts;
    counts.n_rows = csr.n_rows;
    counts.n_cols = csr.n_cols;
    counts.m = csr.m;

    HostVector<std::int32_t> row_degree(static_cast<std::size_t>(csr.n_rows));
    for (std::int32_t i = 0; i < csr.n_rows; ++i) {
        row_degree[static_cast<std::size_t>(i)] = csr.row_ptr[i + 1] - csr.row_ptr[i];
    }
    counts.row_degrees = degree_histogram(row_degree.data(), row_degree.size());

    std::vector<std::int32_t> col_degree(static_cast<std::size_t>(csr.n_cols), 0);
    const auto n_block_rows = static_cast<std::int32_t>(ceil_div(csr.n_rows, kBlockSide));
    const int threads = csr.m > 10000 ? thread_count(csr.n_cols) : 1;
    std::vector<Scratch> scratches;
    scratches.reserve(static_cast<std::size_t>(threads));
    for (int t = 0; t < threads; ++t) scratches.emplace_back(csr.n_cols);
    const auto take = [&](Scratch& scratch, const FeatureCounts& part) {
        add(counts, part);
        for (std::size_t j = 0; j < col_degree.size(); ++j) col_degree[j] += scratch.columns[j].degree;
    };
    if (threads == 1) {
        scratches[0].clear();
        FeatureCounts part;
        for (std::int32_t row = 0; row < n_block_rows; ++row) count_block_row(csr, row, scratches[0], part);
        take(scratches[0], part);
    } else {
        reserve_team(threads);
#pragma omp parallel num_threads(threads)
        {
            Scratch& scratch = scratches[static_cast<std::size_t>(omp_get_thread_num())];
            scratch.clear();
            FeatureCounts part;
#pragma omp for schedule(dynamic, 32)
            for (std::int32_t row = 0; row < n_block_rows; ++row) count_block_row(csr, row, scratch, part);
#pragma omp critical
            take(scratch, part);
        }
    }
    counts.col_degrees = degree_histogram(col_degree.data(), col_degree.size());
    return counts;
}

Features finalise(FeatureCounts counts) {
    Features f;
    f.row_classes = degree_classes(counts.row_degrees);
    f.col_classes = degree_classes(counts.col_degrees);
    const std::int64_t n = counts.n_rows;
    const std::int64_t m = counts.m;

    // Sums over the sorted degrees d_1 <= ... <= d_n: of squares, and of i * d_i for Gini. 128 bits hold both exactly.
    Int128 squares = 0;
    Int128 ranked = 0;
    std::int64_t before = 0;
    for (const auto& [degree, count] : counts.row_degrees) {
        squares += Int128{degree} * degree * count;
        ranked += (Int128{count} * before + Int128{count} * (count + 1) / 2) * degree;
        before += count;
        if (degree == 0) f.empty_rows = count;
        f.degree_max = degree;
    }
    if (n > 0) {
        const auto rows = static_cast<double>(n);
        f.degree_mean = static_cast<double>(m) / rows;
        f.degree_std = std::sqrt(static_cast<double>(squares * n - Int128{m} * m)) / rows;
        f.degree_p50 = degree_percentile(counts, 50);
        f.degree_p90 = degree_percentile(counts, 90);
        f.degree_p99 = degree_percentile(counts, 99);
    }
    if (m > 0) {
        f.density = static_cast<double>(m) / (static_cast<double>(n) * static_cast<double>(counts.n_cols));
        f.degree_cv = f.degree_std / f.degree_mean;
        // G = (2 sum i d_i - (n + 1) m) / (n m)
        f.degree_gini = static_cast<double>(2 * ranked - Int128{n + 1} * m) / static_cast<double>(Int128{n} * m);
        f.heaviest_1pct_share = static_cast<double>(edges_in_heaviest_rows(counts)) / static_cast<double>(m);
        f.mean_column_distance = static_cast<double>(counts.column_distance_sum) / static_cast<double>(m);
    }
    for (const auto& [degree, count] : counts.col_degrees) {
        if (degree > 0) f.distinct_cols += count;
    }
    f.counts = std::move(counts);
    return f;
}

double expected_l2_hit_rate(const FeatureCounts& counts, std::int64_t row_bytes, std::int64_t l2_bytes) {
    if (row_bytes <= 0 || l2_bytes < 0) {
        throw invalid_argument("expected_l2_hit_rate expects row_bytes > 0 and l2_bytes >= 0, got " +
                               std::to_string(row_bytes) + " and " + std::to_string(l2_bytes));
    }
    if (counts.m == 0) return 0;
    constexpr double kUsableShare = 0.7;  // of L2; the rest goes to the graph's arrays, the output and conflicts
    const double capacity = kUsableShare * static_cast<double>(l2_bytes) / static_cast<double>(row_bytes);
    const auto m = static_cast<double>(counts.m);
    double distinct = 0;
    for (const auto& [degree, count] : counts.col_degrees) distinct += degree > 0 ? static_cast<double>(count) : 0;
    const double compulsory = 1 - distinct / m;  // the first reference of each column always misses
    if (distinct <= capacity) return compulsory;

    // Characteristic time x (in units of m references): sum over columns of 1 - exp(-degree x) = capacity. The left
    // side is increasing and concave, so that Newton from 0 approaches the root from below and never overshoots.
    double x = 0;
    for (int iteration = 0; iteration < 200; ++iteration) {
        double resident = 0;
        double slope = 0;
        for (const auto& [degree, count] : counts.col_degrees) {
            const auto d = static_cast<double>(degree);
            resident -= static_cast<double>(count) * std::expm1(-d * x);
            slope += static_cast<double>(count) * d * std::exp(-d * x);
        }
        const double step = (capacity - resident) / slope;
        if (!(step > 1e-12 * x)) break;
        x += step;
    }
    double hits = 0;
    for (const auto& [degree, count] : counts.col_degrees) {
        const auto d = static_cast<double>(degree);
        hits -= static_cast<double>(count) * d * std::expm1(-d * x);
    }
    return std::clamp(hits / m, 0.0, compulsory);
}

}  // namespace gnntune
