// What a config still needs built on the graph at hand.
#pragma once

#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/registry/measurement.hpp"

namespace gnntune {

/// Whether the graph has all these formats.
bool has_formats(const Graph& graph, const std::vector<std::string_view>& formats, Direction direction);

/// Us that building those which the graph does not have takes, from what it was handed in as. What was not measured
/// counts nothing.
double missing_formats_us(const Graph& graph, const std::vector<std::string_view>& formats, Direction direction,
                          const std::vector<FormatBuild>& builds);

}  // namespace gnntune
