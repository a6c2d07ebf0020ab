// The page: sections as one HTML file that needs nothing beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/data.hpp"
#include "tools/report/sections.hpp"

namespace gnntune::tools::report {

/// Readable without JavaScript; with it tables sort, graphs are filtered and marks tell their numbers. Loads nothing.
std::string page_of(const Report& report, const std::vector<Section>& sections);

// Files of this folder, compiled in.
std::string_view figure_css();
std::string_view page_css();
std::string_view page_js();

}  // namespace gnntune::tools::report
