#include "profiles/features_json.hpp"

#include <nlohmann/json.hpp>

namespace gnntune::store {

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

}  // namespace gnntune::store
