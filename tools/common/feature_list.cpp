#include "tools/common/feature_list.hpp"

#include <algorithm>

#include "profiles/fields/features_json.hpp"

namespace gnntune::tools {

namespace {

struct Described {
    const char* name;
    const char* unit;
    const char* help;
};
constexpr Described kFeatures[] = {
    {"n_rows", "rows", "targets"},
    {"n_cols", "columns", "sources"},
    {"m", "edges", "stored entries"},
    {"density", "", "m / (n_rows n_cols)"},
    {"degree_mean", "edges", "mean edges of a row"},
    {"degree_max", "edges", "edges of the heaviest row"},
    {"degree_std", "edges", "standard deviation of the row degree"},
    {"degree_cv", "", "degree_std / degree_mean"},
    {"degree_gini", "", "0 regular, towards 1 extreme skew"},
    {"degree_p50", "edges", "median row degree"},
    {"degree_p90", "edges", "90 % of the rows have this degree or less"},
    {"degree_p99", "edges", "99 % of the rows have this degree or less"},
    {"empty_rows", "rows", "rows without an edge"},
    {"heaviest_1pct_share", "", "share of the edges in the heaviest 1 % of the rows"},
    {"mean_column_distance", "columns", "mean of |column - row|"},
    {"distinct_cols", "columns", "columns that any edge refers to"},
    {"column_distance_sum", "columns", "sum of |column - row|"},
    {"distinct_cols_8", "columns", "distinct columns, summed over windows of 8 rows"},
    {"distinct_cols_16", "columns", "distinct columns, summed over windows of 16 rows"},
    {"tc_blocks_16x8", "blocks", "non-empty aligned 16x8 tiles"},
    {"tc_blocks_16x16", "blocks", "non-empty aligned 16x16 tiles"},
    {"sgt_blocks_16x8", "blocks", "16x8 tiles after sparse graph translation"},
    {"sgt_blocks_16x16", "blocks", "16x16 tiles after sparse graph translation"},
    {"blocks_32x32", "blocks", "non-empty aligned 32x32 blocks"},
    {"blocks_32x32_8", "blocks", "those of 8 edges and more"},
    {"blocks_32x32_32", "blocks", "those of 32 edges and more"},
    {"blocks_32x32_128", "blocks", "those of 128 edges and more"},
    {"edges_in_blocks_32x32_8", "edges", "in blocks of 8 edges and more"},
    {"edges_in_blocks_32x32_32", "edges", "in blocks of 32 edges and more"},
    {"edges_in_blocks_32x32_128", "edges", "in blocks of 128 edges and more"},
};

}  // namespace

std::vector<NamedFeature> list_features(const Features& features) {
    const nlohmann::json values = features_json(features);
    std::vector<NamedFeature> out;
    for (const Described& d : kFeatures) {
        const nlohmann::json& value = values.at(d.name);
        out.push_back({d.name, value.is_number_float() ? Cell(value.get<double>()) : Cell(value.get<std::int64_t>()),
                       d.unit, d.help});
    }
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

nlohmann::json features_json(const Features& features) {
    return nlohmann::json::parse(store::features_text(features));
}

}  // namespace gnntune::tools
