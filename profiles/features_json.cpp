#include "profiles/features_json.hpp"

#include <nlohmann/json.hpp>

namespace gnntune::store {
namespace {

/// "blocks_32x32" for all that are not empty, "blocks_32x32_8" for those of 8 edges and more.
std::string blocks_name(std::size_t i) {
    return i == 0 ? "blocks_32x32" : "blocks_32x32_" + std::to_string(kBlockEdges[i]);
}

std::string edges_name(std::size_t i) {
    return "edges_in_" + blocks_name(i);
}

/// Whether the rows, or columns, of a histogram are that many, and their degrees add up to m.
bool adds_up(const std::vector<std::pair<std::int32_t, std::int64_t>>& degrees, std::int64_t n, std::int64_t m) {
    std::int64_t rows = 0;
    std::int64_t edges = 0;
    std::int64_t before = -1;
    for (const auto& [degree, count] : degrees) {
        if (degree <= before || count <= 0 || count > n - rows || (degree > 0 && count > (m - edges) / degree))
            return false;
        before = degree;
        rows += count;
        edges += degree * count;
    }
    return rows == n && edges == m;
}

/// Whether a graph can have these counts, as far as that is cheap to say.
bool are_possible(const FeatureCounts& c) {
    if (c.n_rows < 0 || c.n_cols < 0 || c.m < 0) return false;
    if (!adds_up(c.row_degrees, c.n_rows, c.m) || !adds_up(c.col_degrees, c.n_cols, c.m)) return false;
    const auto some = [&](std::int64_t count) { return count >= 0 && count <= c.m; };
    if (!some(c.distinct_cols_8) || !some(c.distinct_cols_16) || !some(c.tc_blocks_16x8) || !some(c.tc_blocks_16x16) ||
        !some(c.sgt_blocks_16x8) || !some(c.sgt_blocks_16x16)) {
        return false;
    }
    for (std::size_t i = 0; i < kBlockEdges.size(); ++i) {
        const auto& [blocks, edges] = c.blocks_32x32[i];
        if (blocks < 0 || edges > c.m || edges / kBlockEdges[i] < blocks) return false;
    }
    return true;
}

}  // namespace

std::string features_text(const Features& f) {
    const FeatureCounts& c = f.counts;
    const auto whole = [](auto number) { return static_cast<std::int64_t>(number); };
    nlohmann::json json = {{"n_rows", whole(c.n_rows)},
                           {"n_cols", whole(c.n_cols)},
                           {"m", whole(c.m)},
                           {"density", f.density},
                           {"degree_mean", f.degree_mean},
                           {"degree_max", whole(f.degree_max)},
                           {"degree_std", f.degree_std},
                           {"degree_cv", f.degree_cv},
                           {"degree_gini", f.degree_gini},
                           {"degree_p50", whole(f.degree_p50)},
                           {"degree_p90", whole(f.degree_p90)},
                           {"degree_p99", whole(f.degree_p99)},
                           {"empty_rows", whole(f.empty_rows)},
                           {"heaviest_1pct_share", f.heaviest_1pct_share},
                           {"mean_column_distance", f.mean_column_distance},
                           {"distinct_cols", whole(f.distinct_cols)},
                           {"column_distance_sum", whole(c.column_distance_sum)},
                           {"distinct_cols_8", whole(c.distinct_cols_8)},
                           {"distinct_cols_16", whole(c.distinct_cols_16)},
                           {"tc_blocks_16x8", whole(c.tc_blocks_16x8)},
                           {"tc_blocks_16x16", whole(c.tc_blocks_16x16)},
                           {"sgt_blocks_16x8", whole(c.sgt_blocks_16x8)},
                           {"sgt_blocks_16x16", whole(c.sgt_blocks_16x16)},
                           {"row_degrees", c.row_degrees},
                           {"col_degrees", c.col_degrees}};
    for (std::size_t i = 0; i < kBlockEdges.size(); ++i) {
        json[blocks_name(i)] = whole(c.blocks_32x32[i].blocks);
        if (i > 0) json[edges_name(i)] = whole(c.blocks_32x32[i].edges);
    }
    return json.dump();
}

std::optional<Features> features_from(const std::string& features_json) {
    try {
        const auto json = nlohmann::json::parse(features_json);
        FeatureCounts c;
        c.n_rows = json.at("n_rows").get<std::int64_t>();
        c.n_cols = json.at("n_cols").get<std::int64_t>();
        c.m = json.at("m").get<std::int64_t>();
        json.at("row_degrees").get_to(c.row_degrees);
        json.at("col_degrees").get_to(c.col_degrees);
        c.column_distance_sum = json.at("column_distance_sum").get<std::uint64_t>();
        c.distinct_cols_8 = json.at("distinct_cols_8").get<std::int64_t>();
        c.distinct_cols_16 = json.at("distinct_cols_16").get<std::int64_t>();
        c.tc_blocks_16x8 = json.at("tc_blocks_16x8").get<std::int64_t>();
        c.tc_blocks_16x16 = json.at("tc_blocks_16x16").get<std::int64_t>();
        c.sgt_blocks_16x8 = json.at("sgt_blocks_16x8").get<std::int64_t>();
        c.sgt_blocks_16x16 = json.at("sgt_blocks_16x16").get<std::int64_t>();
        for (std::size_t i = 0; i < kBlockEdges.size(); ++i) {
            c.blocks_32x32[i].blocks = json.at(blocks_name(i)).get<std::int64_t>();
            c.blocks_32x32[i].edges = i == 0 ? c.m : json.at(edges_name(i)).get<std::int64_t>();
        }
        if (!are_possible(c)) return std::nullopt;
        return finalise(std::move(c));
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace gnntune::store
