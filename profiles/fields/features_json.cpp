#include "profiles/fields/features_json.hpp"

#include <nlohmann/json.hpp>

#include <map>

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
    // A nlohmann::json with an inside allocates where it is destroyed, and ends the process if it cannot. One number does
    // not.
    std::map<std::string, std::string> members;
    const auto whole = [&](const std::string& name, auto number) {
        members[name] = std::to_string(static_cast<std::int64_t>(number));
    };
    const auto real = [&](const char* name, double number) { members[name] = nlohmann::json(number).dump(); };
    const auto pairs = [&](const char* name, const std::vector<std::pair<std::int32_t, std::int64_t>>& degrees) {
        std::string text;
        for (const auto& [degree, count] : degrees) {
            text += (text.empty() ? "[" : ",[") + std::to_string(degree) + "," + std::to_string(count) + "]";
        }
        members[name] = "[" + text + "]";
    };
    whole("n_rows", c.n_rows);
    whole("n_cols", c.n_cols);
    whole("m", c.m);
    real("density", f.density);
    real("degree_mean", f.degree_mean);
    whole("degree_max", f.degree_max);
    real("degree_std", f.degree_std);
    real("degree_cv", f.degree_cv);
    real("degree_gini", f.degree_gini);
    whole("degree_p50", f.degree_p50);
    whole("degree_p90", f.degree_p90);
    whole("degree_p99", f.degree_p99);
    whole("empty_rows", f.empty_rows);
    real("heaviest_1pct_share", f.heaviest_1pct_share);
    real("mean_column_distance", f.mean_column_distance);
    whole("distinct_cols", f.distinct_cols);
    whole("column_distance_sum", c.column_distance_sum);
    whole("distinct_cols_8", c.distinct_cols_8);
    whole("distinct_cols_16", c.distinct_cols_16);
    whole("tc_blocks_16x8", c.tc_blocks_16x8);
    whole("tc_blocks_16x16", c.tc_blocks_16x16);
    whole("sgt_blocks_16x8", c.sgt_blocks_16x8);
    whole("sgt_blocks_16x16", c.sgt_blocks_16x16);
    pairs("row_degrees", c.row_degrees);
    pairs("col_degrees", c.col_degrees);
    for (std::size_t i = 0; i < kBlockEdges.size(); ++i) {
        whole(blocks_name(i), c.blocks_32x32[i].blocks);
        if (i > 0) whole(edges_name(i), c.blocks_32x32[i].edges);
    }
    std::string json;
    for (const auto& [name, value] : members) json += (json.empty() ? "{\"" : ",\"") + name + "\":" + value;
    return json + "}";
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
