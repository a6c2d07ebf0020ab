#include "tools/feature_list.hpp"

#include <algorithm>

namespace gnntune::tools {

std::vector<NamedFeature> list_features(const Features& f) {
    const FeatureCounts& c = f.counts;
    const auto whole = [](auto number) { return Cell(static_cast<std::int64_t>(number)); };
    return {
        {"n_rows", whole(c.n_rows), "rows", "targets"},
        {"n_cols", whole(c.n_cols), "columns", "sources"},
        {"m", whole(c.m), "edges", "stored entries"},
        {"density", Cell(f.density), "", "m / (n_rows n_cols)"},
        {"degree_mean", Cell(f.degree_mean), "edges", "mean edges of a row"},
        {"degree_max", whole(f.degree_max), "edges", "edges of the heaviest row"},
        {"degree_std", Cell(f.degree_std), "edges", "standard deviation of the row degree"},
        {"degree_cv", Cell(f.degree_cv), "", "degree_std / degree_mean"},
        {"degree_gini", Cell(f.degree_gini), "", "0 regular, towards 1 extreme skew"},
        {"degree_p50", whole(f.degree_p50), "edges", "median row degree"},
        {"degree_p90", whole(f.degree_p90), "edges", "90 % of the rows have this degree or less"},
        {"degree_p99", whole(f.degree_p99), "edges", "99 % of the rows have this degree or less"},
        {"empty_rows", whole(f.empty_rows), "rows", "rows without an edge"},
        {"heaviest_1pct_share", Cell(f.heaviest_1pct_share), "", "share of the edges in the heaviest 1 % of the rows"},
        {"mean_column_distance", Cell(f.mean_column_distance), "columns", "mean of |column - row|"},
        {"distinct_cols", whole(f.distinct_cols), "columns", "columns that any edge refers to"},
        {"column_distance_sum", whole(c.column_distance_sum), "columns", "sum of |column - row|"},
        {"distinct_cols_8", whole(c.distinct_cols_8), "columns", "distinct columns, summed over windows of 8 rows"},
        {"distinct_cols_16", whole(c.distinct_cols_16), "columns", "distinct columns, summed over windows of 16 rows"},
        {"tc_blocks_16x8", whole(c.tc_blocks_16x8), "blocks", "non-empty aligned 16x8 tiles"},
        {"tc_blocks_16x16", whole(c.tc_blocks_16x16), "blocks", "non-empty aligned 16x16 tiles"},
        {"sgt_blocks_16x8", whole(c.sgt_blocks_16x8), "blocks", "16x8 tiles after sparse graph translation"},
        {"sgt_blocks_16x16", whole(c.sgt_blocks_16x16), "blocks", "16x16 tiles after sparse graph translation"},
    };
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

nlohmann::json features_json(const Features& features) {
    nlohmann::json json = nlohmann::json::object();
    for (const NamedFeature& feature : list_features(features)) {
        std::visit(
            [&json, &feature](const auto& held) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) json[feature.name] = held;
            },
            feature.value);
    }
    json["row_degrees"] = features.counts.row_degrees;
    json["col_degrees"] = features.counts.col_degrees;
    return json;
}

}  // namespace gnntune::tools
