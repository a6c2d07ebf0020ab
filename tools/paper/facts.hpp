// What a graph alone answers: sizes, TC blocks, sampling rates. From the features that the database keeps of it.
#pragma once

#include <optional>
#include <string>

#include "core/features/features.hpp"
#include "tools/common/table.hpp"

namespace gnntune::tools::paper {

/// vertices, edges, tc_blocks_16x8, sgt_blocks_16x8, tc_blocks_16x16, sgt_blocks_16x16, fewer_16x8_percent,
/// fewer_16x16_percent, sparsity_percent, sampling_percent (at most `width` edges of a row), window_edges (of a window
/// of 16 rows, on average) and rule_warps (TC-GNN's warps per block). Throws ErrorKind::input for another word.
Cell graph_fact(const Features& features, const std::string& word, std::int64_t width);

}  // namespace gnntune::tools::paper
