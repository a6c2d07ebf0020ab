#include "tools/paper/facts.hpp"

#include <algorithm>

#include "core/common/error.hpp"
#include "core/graph/sample.hpp"

namespace gnntune::tools::paper {
namespace {

constexpr std::int64_t kWindowRows = 16;

Cell percent(std::int64_t part, std::int64_t whole) {
    if (whole == 0) return {};
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

double window_edges(const FeatureCounts& c) {
    const std::int64_t windows = (c.n_rows + kWindowRows - 1) / kWindowRows;
    return windows == 0 ? 0.0 : static_cast<double>(c.m) / static_cast<double>(windows);
}

Cell sampling_percent(const FeatureCounts& c, std::int64_t width) {
    SampleRule rule;
    rule.width = static_cast<std::int32_t>(width);
    std::int64_t kept = 0;
    for (const auto& [degree, rows] : c.row_degrees) kept += rows * sampled_count(rule, degree);
    return percent(kept, c.m);
}

}  // namespace

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
        return finalise(std::move(c));
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

Cell graph_fact(const Features& features, const std::string& word, std::int64_t width) {
    const FeatureCounts& c = features.counts;
    if (word == "vertices") return c.n_rows;
    if (word == "edges") return c.m;
    if (word == "tc_blocks_16x8") return c.tc_blocks_16x8;
    if (word == "sgt_blocks_16x8") return c.sgt_blocks_16x8;
    if (word == "tc_blocks_16x16") return c.tc_blocks_16x16;
    if (word == "sgt_blocks_16x16") return c.sgt_blocks_16x16;
    if (word == "fewer_16x8_percent") return percent(c.tc_blocks_16x8 - c.sgt_blocks_16x8, c.tc_blocks_16x8);
    if (word == "fewer_16x16_percent") return percent(c.tc_blocks_16x16 - c.sgt_blocks_16x16, c.tc_blocks_16x16);
    if (word == "sparsity_percent") return 100.0 * (1.0 - features.density);
    if (word == "sampling_percent") return sampling_percent(c, width);
    if (word == "window_edges") return window_edges(c);
    if (word == "rule_warps") return std::max<std::int64_t>(1, static_cast<std::int64_t>(window_edges(c) / 32));
    throw input_error("papers: '" + word + "' is no fact of a graph");
}

}  // namespace gnntune::tools::paper
