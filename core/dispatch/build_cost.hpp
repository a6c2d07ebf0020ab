// What a config still needs built on the graph at hand.
#pragma once

#include <string_view>
#include <vector>

#include "core/registry/graph.hpp"
#include "core/registry/measurement.hpp"

namespace gnntune {

/// Whether all these formats are there.
bool has_formats(const PresentFormats& present, const std::vector<std::string_view>& formats);

/// Us that building those which are not there takes, from what the graph was handed in as. What was not measured counts
/// nothing.
double missing_formats_us(const PresentFormats& present, const std::vector<std::string_view>& formats,
                          const std::vector<FormatBuild>& builds);

/// Us that a config which was measured from a CSR graph still needs for building: its own data, of `prepare_us` what
/// was no format, and the formats that are not there. Without `builds` (null) all of it counts unless its formats are
/// there.
double still_to_build_us(const PresentFormats& present, const std::vector<std::string_view>& formats, double prepare_us,
                         const std::vector<FormatBuild>* builds);

}  // namespace gnntune
