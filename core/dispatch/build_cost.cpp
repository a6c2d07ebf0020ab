#include "core/dispatch/build_cost.hpp"

#include <algorithm>

namespace gnntune {

bool has_formats(const Graph& graph, const std::vector<std::string_view>& formats, Direction direction) {
    return std::all_of(formats.begin(), formats.end(),
                       [&](std::string_view id) { return graph.has_format(id, direction); });
}

double missing_formats_us(const Graph& graph, const std::vector<std::string_view>& formats, Direction direction,
                          const std::vector<FormatBuild>& builds) {
    std::vector<std::string_view> there;
    for (const std::string_view id : formats) {
        if (graph.has_format(id, direction)) there.push_back(id);
    }
    const double all = total_build_us(builds, formats, graph.base_format(), direction);
    const double had = there.empty() ? 0 : total_build_us(builds, there, graph.base_format(), direction);
    return std::max(0.0, all - had);
}

}  // namespace gnntune
