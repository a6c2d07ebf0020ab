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
