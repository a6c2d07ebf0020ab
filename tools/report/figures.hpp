// The figures of a report, one function each. Pure functions of the numbers; `id` names the figure.
#pragma once

#include <string>

#include "tools/report/data.hpp"
#include "tools/report/figure.hpp"
#include "tools/report/palette.hpp"

namespace gnntune::tools::report {

/// Of most figures.
inline constexpr double kFigureWidth = 960;

/// Graphs by widths, each cell the variant that won.
Figure won_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id);
/// Rates against the size of the gathered table, beside the device's own lines; shares of the roofline by width.
Figure limit_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id);
/// How many times as long the alternatives take.
Figure gain_figure(const Report& report, const Setting& setting, std::string id);
/// Rows and columns by degree.
Figure degree_figure(const GraphFacts& graph, std::string id);
/// Every config that was timed, a panel for each width.
Figure configs_figure(const Report& report, const Setting& setting, std::size_t graph, const Palette& palette,
                      std::string id);
/// Error against time. Nothing in it unless a config that is not exact was timed.
Figure errors_figure(const Report& report, const Setting& setting, std::size_t graph, const Palette& palette,
                     std::string id);
/// What a call costs with its share of building, for the problem with most changes of the cheapest config.
Figure cost_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id);
/// Who is the cheapest for how many calls, a bar for each graph.
Figure calls_figure(const Report& report, const Setting& setting, const Palette& palette, std::string id);
/// Expected against measured times, and what choices cost.
Figure model_figure(const Report& report, const ModelFacts& model, std::string id);
/// The calls of a training step, a bar for each way to choose.
Figure step_figure(const Report& report, const StepFacts& step, std::string id);
/// What became of all attempts, a bar for each variant.
Figure outcome_figure(const Report& report, std::string id);
/// SM clocks that were read beside the samples.
Figure clock_figure(const Report& report, std::string id);

/// "NVIDIA H200 · hot · clock events", and where it is so what else one has to know of the times.
std::string about(const Report& report, const Setting& setting);
/// Geometric mean; nothing of nothing.
std::optional<double> geomean(const std::vector<double>& values);

}  // namespace gnntune::tools::report
