// What the tuner and the reader of `gnntune info` know about a graph's shape.
//
// Everything derives from integers that the CPU and the GPU count exactly (FeatureCounts), so both give equal features;
// the floating-point part is computed once, on the host, by finalise().
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/graph/types.hpp"

namespace gnntune {

/// Aligned blocks of 32 x 32 cells are counted by how many edges they have at least; from 8 on they are called dense.
inline constexpr std::int32_t kBlockSide = 32;
inline constexpr std::array<std::int32_t, 4> kBlockEdges{1, 8, 32, 128};

/// Blocks with as many edges as one entry of kBlockEdges says, or more, and the edges in them.
struct BlockCount {
    std::int64_t blocks = 0;
    std::int64_t edges = 0;

    bool operator==(const BlockCount&) const = default;
};

/// Exact counts, from which every feature follows.
struct FeatureCounts {
    std::int64_t n_rows = 0;
    std::int64_t n_cols = 0;
    std::int64_t m = 0;
    /// (degree, number of rows with it), ascending in degree, zero counts left out. Same for columns.
    std::vector<std::pair<std::int32_t, std::int64_t>> row_degrees;
    std::vector<std::pair<std::int32_t, std::int64_t>> col_degrees;
    std::uint64_t column_distance_sum = 0;  ///< sum over edges of |column - row|
    std::int64_t distinct_cols_8 = 0;       ///< V8: distinct columns, summed over windows of 8 rows
    std::int64_t distinct_cols_16 = 0;      ///< V16
    std::int64_t tc_blocks_16x8 = 0;        ///< non-empty aligned 16x8 tiles, without translation
    std::int64_t tc_blocks_16x16 = 0;
    std::int64_t sgt_blocks_16x8 = 0;  ///< after SGT: sum over 16-row windows of ceil(distinct columns / 8)
    std::int64_t sgt_blocks_16x16 = 0;
    std::array<BlockCount, kBlockEdges.size()> blocks_32x32{};  ///< in the order of kBlockEdges

    bool operator==(const FeatureCounts&) const = default;
};

/// Rows, or columns, whose degree lies in (most / 2, most], or is 0.
struct DegreeClass {
    std::int64_t most = 0;
    std::int64_t rows = 0;
    std::int64_t edges = 0;

    bool operator==(const DegreeClass&) const = default;
};

struct Features {
    FeatureCounts counts;
    std::vector<DegreeClass> row_classes;  ///< ascending, without those that have no rows; the same for columns
    std::vector<DegreeClass> col_classes;
    double density = 0;      ///< m / (n_rows n_cols); 0 for an empty matrix
    double degree_mean = 0;  ///< m / n_rows
    std::int32_t degree_max = 0;
    double degree_std = 0;        ///< population standard deviation of the row degree
    double degree_cv = 0;         ///< degree_std / degree_mean; 0 without edges
    double degree_gini = 0;       ///< 0 regular, towards 1 extreme skew
    std::int32_t degree_p50 = 0;  ///< smallest degree d such that at least 50 % of the rows have degree <= d
    std::int32_t degree_p90 = 0;
    std::int32_t degree_p99 = 0;
    std::int64_t empty_rows = 0;
    double heaviest_1pct_share = 0;   ///< share of edges in the ceil(n_rows / 100) rows of highest degree
    double mean_column_distance = 0;  ///< mean over edges of |column - row|
    std::int64_t distinct_cols = 0;   ///< U: columns that any edge refers to

    bool operator==(const Features&) const = default;
};

/// Counts on the host, OpenMP-parallel over row windows. Host view.
FeatureCounts count_features(const CsrView& csr);

/// Features from counts. Deterministic: equal counts give bitwise equal features.
Features finalise(FeatureCounts counts);

inline Features features_of(const CsrView& csr) {
    return finalise(count_features(csr));
}

/// Share of the TC blocks that sparse graph translation saves (TC-GNN, figure 7): 1 - with / without, 0 where there are none.
inline double tc_block_reduction(std::int64_t without, std::int64_t with) {
    return without == 0 ? 0.0 : 1.0 - static_cast<double>(with) / static_cast<double>(without);
}

/// Expected L2 hit rate of gathering whole rows of `row_bytes` bytes from the dense operand, by Che's approximation with
/// independent references (P_j proportional to the degree of column j) and a capacity of 0.7 `l2_bytes`.
/// 1 - U/m where all referenced rows fit. In [0, 1]; 0 for a graph without edges.
double expected_l2_hit_rate(const FeatureCounts& counts, std::int64_t row_bytes, std::int64_t l2_bytes);

}  // namespace gnntune
