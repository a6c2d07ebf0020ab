#include "tools/common/feature_list.hpp"

#include <algorithm>

namespace gnntune::tools {

namespace {

struct Described {
    const char* name;
    const char* unit;
    const char* help;
    Cell (*value)(const Features&);
};
constexpr Described kFeatures[] = {
    {"n_rows", "rows", "targets", [](const Features& f) -> Cell { return f.counts.n_rows; }},
    {"n_cols", "columns", "sources", [](const Features& f) -> Cell { return f.counts.n_cols; }},
    {"m", "edges", "stored entries", [](const Features& f) -> Cell { return f.counts.m; }},
    {"density", "", "m / (n_rows n_cols)", [](const Features& f) -> Cell { return f.density; }},
    {"degree_mean", "edges", "mean edges of a row", [](const Features& f) -> Cell { return f.degree_mean; }},
    {"degree_max", "edges", "edges of the heaviest row",
     [](const Features& f) -> Cell { return std::int64_t{f.degree_max}; }},
    {"degree_std", "edges", "standard deviation of the row degree",
     [](const Features& f) -> Cell { return f.degree_std; }},
    {"degree_cv", "", "degree_std / degree_mean", [](const Features& f) -> Cell { return f.degree_cv; }},
    {"degree_gini", "", "0 regular, towards 1 extreme skew", [](const Features& f) -> Cell { return f.degree_gini; }},
    {"degree_p50", "edges", "median row degree", [](const Features& f) -> Cell { return std::int64_t{f.degree_p50}; }},
    {"degree_p90", "edges", "90 % of the rows have this degree or less",
     [](const Features& f) -> Cell { return std::int64_t{f.degree_p90}; }},
    {"degree_p99", "edges", "99 % of the rows have this degree or less",
     [](const Features& f) -> Cell { return std::int64_t{f.degree_p99}; }},
    {"empty_rows", "rows", "rows without an edge", [](const Features& f) -> Cell { return f.empty_rows; }},
    {"heaviest_1pct_share", "", "share of the edges in the heaviest 1 % of the rows",
     [](const Features& f) -> Cell { return f.heaviest_1pct_share; }},
    {"mean_column_distance", "columns", "mean of |column - row|",
     [](const Features& f) -> Cell { return f.mean_column_distance; }},
    {"distinct_cols", "columns", "columns that any edge refers to",
     [](const Features& f) -> Cell { return f.distinct_cols; }},
    {"column_distance_sum", "columns", "sum of |column - row|",
     [](const Features& f) -> Cell { return static_cast<std::int64_t>(f.counts.column_distance_sum); }},
    {"distinct_cols_8", "columns", "distinct columns, summed over windows of 8 rows",
     [](const Features& f) -> Cell { return f.counts.distinct_cols_8; }},
    {"distinct_cols_16", "columns", "distinct columns, summed over windows of 16 rows",
     [](const Features& f) -> Cell { return f.counts.distinct_cols_16; }},
    {"tc_blocks_16x8", "blocks", "non-empty aligned 16x8 tiles",
     [](const Features& f) -> Cell { return f.counts.tc_blocks_16x8; }},
    {"tc_blocks_16x16", "blocks", "non-empty aligned 16x16 tiles",
     [](const Features& f) -> Cell { return f.counts.tc_blocks_16x16; }},
    {"sgt_blocks_16x8", "blocks", "16x8 tiles after sparse graph translation",
     [](const Features& f) -> Cell { return f.counts.sgt_blocks_16x8; }},
    {"sgt_blocks_16x16", "blocks", "16x16 tiles after sparse graph translation",
     [](const Features& f) -> Cell { return f.counts.sgt_blocks_16x16; }},
    {"blocks_32x32", "blocks", "non-empty aligned 32x32 blocks",
     [](const Features& f) -> Cell { return f.counts.blocks_32x32[0].blocks; }},
    {"blocks_32x32_8", "blocks", "those of 8 edges and more",
     [](const Features& f) -> Cell { return f.counts.blocks_32x32[1].blocks; }},
    {"blocks_32x32_32", "blocks", "those of 32 edges and more",
     [](const Features& f) -> Cell { return f.counts.blocks_32x32[2].blocks; }},
    {"blocks_32x32_128", "blocks", "those of 128 edges and more",
     [](const Features& f) -> Cell { return f.counts.blocks_32x32[3].blocks; }},
    {"edges_in_blocks_32x32_8", "edges", "in blocks of 8 edges and more",
     [](const Features& f) -> Cell { return f.counts.blocks_32x32[1].edges; }},
    {"edges_in_blocks_32x32_32", "edges", "in blocks of 32 edges and more",
     [](const Features& f) -> Cell { return f.counts.blocks_32x32[2].edges; }},
    {"edges_in_blocks_32x32_128", "edges", "in blocks of 128 edges and more",
     [](const Features& f) -> Cell { return f.counts.blocks_32x32[3].edges; }},
};

}  // namespace

std::vector<NamedFeature> list_features(const Features& features) {
    std::vector<NamedFeature> out;
    for (const Described& d : kFeatures) out.push_back({d.name, d.value(features), d.unit, d.help});
    return out;
}

std::vector<DegreeBin> degree_bins(const std::vector<std::pair<std::int32_t, std::int64_t>>& degrees) {
    std::vector<DegreeBin> bins;
    const std::int64_t largest = degrees.empty() ? -1 : degrees.back().first;
    for (std::int64_t first = 0; first <= largest; first = std::max<std::int64_t>(1, 2 * first)) {
        const std::int64_t last = std::max<std::int64_t>(0, 2 * first - 1);
        bins.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(last), 0, 0});
    }
    for (const auto& [degree, count] : degrees) {
        std::size_t bin = 0;
        while (degree > bins[bin].last) ++bin;
        bins[bin].count += count;
        bins[bin].edges += std::int64_t{degree} * count;
    }
    return bins;
}

}  // namespace gnntune::tools
